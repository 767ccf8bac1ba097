select
    {{ parent_key() }} as parent_key,
    {{ library_key() }} as library_key,
    owner,
    library_name,
    parent_id,
    parent_name,
    parent_last_modified_at,
    latest_result_id,
    latest_result_modified_at,
    edited_after_seconds,
    result_count as results
from {{ source('simcat', 'stale_results') }}
