select
    {{ library_key() }} as library_key,
    {{ scenario_key() }} as scenario_key,
    owner,
    library_name,
    scenario_id,
    scenario_name,
    parent_id,
    coalesce(is_result, parent_id is not null) as is_result,
    last_modified_at,
    first_seen_at,
    changed_at
from {{ source('simcat', 'scenarios') }}
