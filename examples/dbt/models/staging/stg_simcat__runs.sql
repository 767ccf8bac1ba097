select
    run_id,
    kind,
    trigger,
    status,
    started_at,
    finished_at,
    case when status <> 'abandoned' then extract(epoch from finished_at - started_at) end as seconds,
    is_whole,
    libraries_read,
    libraries_changed,
    libraries_failed,
    error
from {{ source('simcat', 'run_history') }}
