-- How much does each owner store, and how many sizes are unknown?
SELECT owner, libraries, pg_size_pretty(bytes) AS size, bytes, sizes_unread
FROM simcat_report.owner_storage
ORDER BY bytes DESC, owner;
