select
    to_char(day, 'YYYY-MM-DD') || '/' || owner as owner_day_key,
    day,
    owner,
    libraries,
    scenarios,
    parents,
    results,
    bytes,
    sizes_unread,
    oldest_read_at,
    oldest_read_age_seconds
from {{ source('simcat', 'daily_owners') }}
