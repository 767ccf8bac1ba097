ALTER TABLE simcat.library_sync RENAME COLUMN owes TO reread_reason;
--> statement-breakpoint
ALTER TABLE simcat.library_sync RENAME COLUMN doubtful_reads TO suspect_reads;
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.reread_reason IS 'Why the library must be read again whatever its date is: rejects (an item could not be stored), failure (the last read or store failed), shrunk (its list lost too much at once), restored (it is listed again after a removal). NULL: no reason.';
COMMENT ON COLUMN simcat.library_sync.suspect_reads IS 'Consecutive reads under one text that a cache may have answered, or whose metadata had another date than the listing or another library''s name. Above 0 the bookmark does not settle.';
