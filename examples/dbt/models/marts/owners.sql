select
    storage.owner,
    storage.libraries,
    storage.bytes,
    storage.sizes_unread,
    count(used.library_key) filter (where used.last_work_at >= now() - interval '90 days') as libraries_used_in_90_days,
    coalesce(sum(used.parents), 0) as parents,
    coalesce(sum(used.parents_never_run), 0) as parents_never_run
from {{ source('simcat', 'owner_storage') }} as storage
left join {{ ref('libraries_in_use') }} as used on used.owner = storage.owner
group by storage.owner, storage.libraries, storage.bytes, storage.sizes_unread
