select
    length(owner) || ':' || owner || '/' || library_name as library_key,
    length(owner) || ':' || owner || '/' || length(library_name) || ':' || library_name || '/' || scenario_id as scenario_key,
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
