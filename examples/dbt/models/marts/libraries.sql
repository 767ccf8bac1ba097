with never_run as (
    select
        {{ library_key() }} as library_key,
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
    libraries.last_work_at,
    libraries.parent_count as parents,
    coalesce(never_run.parents_never_run, 0) as parents_never_run,
    libraries.work_state,
    libraries.scenario_count as scenarios,
    libraries.result_count as results,
    libraries.first_seen_at
from {{ ref('stg_simcat__libraries') }} as libraries
left join never_run on never_run.library_key = libraries.library_key
