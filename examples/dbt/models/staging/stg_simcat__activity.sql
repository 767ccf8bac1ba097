with moved as (
    select distinct m.run_id, side.owner, m.library_name, true as is_move
    from {{ source('simcat', 'library_moves') }} as m
    cross join lateral (values (m.old_owner), (m.new_owner)) as side(owner)
)

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
    run_id,
    coalesce(moved.is_move, false) as is_move,
    coalesce(seen_at < copy.history_complete_since, true) as is_before_history
from {{ source('simcat', 'activity') }}
cross join {{ source('simcat', 'data_complete_as_of') }} as copy
left join moved using (run_id, owner, library_name)
