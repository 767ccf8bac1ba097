CREATE OR REPLACE VIEW simcat_report.stale_libraries AS
SELECT l.owner, l.library_name, l.package_name, l.package_version, l.file_size_bytes, l.last_modified, l.last_modified_at,
  d.days AS days_since_modified,
  CASE
    WHEN d.days IS NULL THEN 'no date'
    WHEN d.days < -1 THEN 'in the future'
    WHEN d.days < 30 THEN 'under 30 days'
    WHEN d.days < 90 THEN '30 to 90 days'
    WHEN d.days < 365 THEN '90 to 365 days'
    ELSE 'over a year'
  END AS bucket
FROM simcat.libraries l
CROSS JOIN LATERAL (SELECT floor(extract(epoch FROM now() - l.last_modified_at) / 86400)::bigint AS days) AS d
WHERE l.removed_at IS NULL
ORDER BY l.last_modified_at NULLS LAST, l.owner, l.library_name;

COMMENT ON VIEW simcat_report.stale_libraries IS 'All live libraries by age, not only the stale ones: filter by bucket or days_since_modified. The longest unchanged are first, libraries without a known date last.';
COMMENT ON COLUMN simcat_report.stale_libraries.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.stale_libraries.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.stale_libraries.package_name IS 'The simulation package. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat_report.stale_libraries.package_version IS 'Version of the package, as sent. Compare versions part by part with version_order(). NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat_report.stale_libraries.file_size_bytes IS 'file_size in bytes; 1 KB is 1024 bytes. As rounded as the text. NULL: not sent, or not understood. Never 0 for an unknown size, so a sum omits unknown sizes.';
COMMENT ON COLUMN simcat_report.stale_libraries.last_modified IS 'The service''s lastModified text, as sent. Its format and time zone are unknown: do not sort or compare it. NULL: not sent.';
COMMENT ON COLUMN simcat_report.stale_libraries.last_modified_at IS 'last_modified as a time: the start of the minute, day or other period that the text names. A text without a time zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or an unknown format.';
COMMENT ON COLUMN simcat_report.stale_libraries.days_since_modified IS 'Whole days since last_modified_at; negative if the date is in the future. NULL: the date is not known.';
COMMENT ON COLUMN simcat_report.stale_libraries.bucket IS 'The age as a text: under 30 days, 30 to 90 days, 90 to 365 days, over a year, in the future (by more than a day) or no date. Each range begins with its first number of days and ends before its second.';
