select
    {{ event_key() }} as event_key,
    entity,
    kind,
    owner,
    library_name,
    scenario_id,
    coalesce(is_result, false) as is_result,
    service_date,
    seen_at,
    run_id
from {{ source('simcat', 'activity') }}
