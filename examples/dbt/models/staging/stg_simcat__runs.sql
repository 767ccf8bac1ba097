select
    run_id,
    kind,
    trigger,
    status,
    started_at,
    finished_at,
    extract(epoch from finished_at - started_at) as seconds,
    is_whole,
    libraries_read,
    libraries_changed,
    libraries_failed,
    error
from {{ source('simcat', 'run_history') }}
