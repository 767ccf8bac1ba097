ALTER TABLE "simcat"."sync_runs" ADD COLUMN "listing_as_of" timestamp (6) with time zone;
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.listing_complete IS 'Whether each entry of the listing named its library, and the listing had one page. An entry with a key that no copy can hold does not count. NULL: no listing was accepted, or the run is not finished.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.listing_as_of IS 'The time as of which the listing showed the service: when it was requested, or when a cache had stored it. NULL: no listing was accepted, the run is not finished, or an earlier version wrote it.';
