CREATE OR REPLACE VIEW simcat_report.owner_storage AS
SELECT l.owner, count(*) AS libraries, coalesce(sum(l.file_size_bytes), 0) AS bytes,
  count(*) FILTER (WHERE l.file_size_bytes IS NULL) AS sizes_unread,
  -- A sum of wrong sizes may exceed a bigint: the view must not fail then.
  least(coalesce(sum(l.file_size_bytes), 0), 9223372036854775807)::bigint AS total_bytes
FROM simcat.libraries l WHERE l.removed_at IS NULL
GROUP BY l.owner;

COMMENT ON VIEW simcat_report.owner_storage IS 'Number and bytes of the live libraries of each owner.';
COMMENT ON COLUMN simcat_report.owner_storage.owner IS 'Owner of the libraries: the user who uploaded them.';
COMMENT ON COLUMN simcat_report.owner_storage.libraries IS 'Number of live libraries.';
COMMENT ON COLUMN simcat_report.owner_storage.bytes IS 'Sum of the known sizes, in bytes.';
COMMENT ON COLUMN simcat_report.owner_storage.sizes_unread IS 'Number of libraries that the sum omits: no size was sent, or it was not understood.';
COMMENT ON COLUMN simcat_report.owner_storage.total_bytes IS 'bytes as a bigint, for clients that cannot read decimals. At most 9223372036854775807.';
