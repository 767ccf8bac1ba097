select
    {{ library_key() }} as library_key,
    owner,
    library_name,
    library_owner,
    package_name,
    package_version,
    last_modified_at,
    file_size_bytes,
    scenario_count,
    result_count,
    first_seen_at,
    changed_at,
    parent_count,
    last_work_at,
    work_state
from {{ source('simcat', 'libraries') }}
