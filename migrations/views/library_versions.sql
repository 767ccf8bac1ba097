CREATE OR REPLACE VIEW simcat_report.library_versions AS
SELECT owner, library_name, changed_at AS valid_from, NULL::timestamptz AS valid_to, removed_at, library_owner, package_name,
  package_version, description, last_modified, last_modified_at, file_size, file_size_bytes, first_seen_at, run_id, listed, metadata
FROM simcat.libraries
UNION ALL
SELECT owner, library_name, valid_from, valid_to, removed_at, library_owner, package_name,
  package_version, description, last_modified, last_modified_at, file_size, file_size_bytes, first_seen_at, run_id, listed, metadata
FROM simcat.library_history;

COMMENT ON VIEW simcat_report.library_versions IS 'Every kept version of every library, removed ones included. A version is valid from valid_from (inclusive) to valid_to (exclusive), without gaps. Complete since data_complete_as_of.history_complete_since.';
COMMENT ON COLUMN simcat_report.library_versions.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.library_versions.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.library_versions.valid_from IS 'When this version was stored: the first moment at which it is valid (inclusive).';
COMMENT ON COLUMN simcat_report.library_versions.valid_to IS 'When the next version was stored: the end of this version (exclusive). NULL: it is the newest.';
COMMENT ON COLUMN simcat_report.library_versions.removed_at IS 'When it was removed. NULL: not removed in this version.';
COMMENT ON COLUMN simcat_report.library_versions.library_owner IS 'The owner that the metadata names, a user or an organization. May differ from owner. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat_report.library_versions.package_name IS 'The simulation package. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat_report.library_versions.package_version IS 'Version of the package, as sent. Compare versions part by part with version_order(). NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat_report.library_versions.description IS 'Description of the library, as sent. It may be long. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat_report.library_versions.last_modified IS 'The service''s lastModified text, as sent. Its format and time zone are unknown: do not sort or compare it. NULL: not sent.';
COMMENT ON COLUMN simcat_report.library_versions.last_modified_at IS 'last_modified as a time: the start of the minute, day or other period that the text names. A text without a time zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or an unknown format.';
COMMENT ON COLUMN simcat_report.library_versions.file_size IS 'The size text, as sent, such as 240 KB. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat_report.library_versions.file_size_bytes IS 'file_size in bytes; 1 KB is 1024 bytes. As rounded as the text. NULL: not sent, or not understood. Never 0 for an unknown size, so a sum omits unknown sizes.';
COMMENT ON COLUMN simcat_report.library_versions.first_seen_at IS 'When simcat first stored it. Not when the service created it. Kept when it is removed and returns, unless it was pruned.';
COMMENT ON COLUMN simcat_report.library_versions.run_id IS 'The run that wrote this version (run_history.run_id).';
COMMENT ON COLUMN simcat_report.library_versions.listed IS 'The list entry as received, unknown fields included. NULL: no list entry stored yet.';
COMMENT ON COLUMN simcat_report.library_versions.metadata IS 'The metadata as received, unknown fields included. NULL: no metadata stored yet.';
