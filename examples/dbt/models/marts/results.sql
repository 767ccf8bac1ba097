select
    results.scenario_key as result_key,
    results.library_key,
    results.owner,
    results.library_name,
    results.scenario_id,
    results.scenario_name,
    results.parent_id,
    parents.scenario_name as parent_name,
    results.last_modified_at,
    parents.last_modified_at > results.last_modified_at as is_older_than_parent,
    results.first_seen_at
from {{ ref('stg_simcat__scenarios') }} as results
left join {{ ref('stg_simcat__scenarios') }} as parents
    on parents.library_key = results.library_key and parents.scenario_id = results.parent_id
where results.is_result
