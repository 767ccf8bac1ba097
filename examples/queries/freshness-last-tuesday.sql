-- How fresh was the copy last Tuesday, the owner with the oldest content first?
-- At the first good run of that day, in UTC. On a Tuesday, it is the one a week ago.
SELECT day, owner, libraries, oldest_read_at, round(oldest_read_age_seconds / 3600) AS hours_old
FROM simcat_report.daily_owners
WHERE libraries > 0
  AND day = (now() AT TIME ZONE 'UTC')::date - ((extract(isodow FROM now() AT TIME ZONE 'UTC')::integer + 4) % 7 + 1)
ORDER BY oldest_read_age_seconds DESC NULLS FIRST, owner;
