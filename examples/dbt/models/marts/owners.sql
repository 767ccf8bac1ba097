select
    owner,
    count(*) as libraries,
    coalesce(sum(file_size_bytes), 0)::bigint as bytes,
    count(*) - count(file_size_bytes) as sizes_unread,
    count(*) filter (where work_state in ('active', 'quiet')) as libraries_used_in_90_days,
    sum(parents)::bigint as parents,
    sum(parents_never_run)::bigint as parents_never_run,
    count(*) filter (where work_state = 'active') as active_libraries,
    count(*) filter (where work_state = 'stale') as stale_libraries,
    sum(results)::bigint as results
from {{ ref('libraries') }}
group by owner
