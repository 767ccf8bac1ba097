with scenarios as (
    select
        library_key,
        max(last_modified_at) as last_scenario_at,
        count(*) filter (where not is_result) as parents
    from {{ ref('stg_simcat__scenarios') }}
    group by library_key
),

never_run as (
    select
        length(owner) || ':' || owner || '/' || library_name as library_key,
        count(*) as parents_never_run
    from {{ source('simcat', 'parents_without_results') }}
    group by 1
)

select
    libraries.library_key,
    libraries.owner,
    libraries.library_name,
    libraries.package_name,
    libraries.package_version,
    libraries.file_size_bytes,
    greatest(libraries.last_modified_at, scenarios.last_scenario_at) as last_work_at,
    coalesce(scenarios.parents, 0) as parents,
    coalesce(never_run.parents_never_run, 0) as parents_never_run
from {{ ref('stg_simcat__libraries') }} as libraries
left join scenarios on scenarios.library_key = libraries.library_key
left join never_run on never_run.library_key = libraries.library_key
