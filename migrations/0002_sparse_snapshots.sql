COMMENT ON COLUMN simcat.library_days.last_read_at IS 'library_sync.content_read_at as of from_day: when the last stored read of its content had started. A later read without a change begins no row and does not move it. NULL: never read, or removed.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.owner_days.oldest_read_at IS 'The earliest library_sync.content_read_at of the live libraries when the snapshot was taken. NULL: no library is live, or none was ever read.';
