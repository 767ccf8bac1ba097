ALTER TABLE "simcat"."library_sync" ADD COLUMN "removal_held_at" timestamp (6) with time zone;--> statement-breakpoint
ALTER TABLE "simcat"."sync_runs" ADD COLUMN "restart" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "sync_runs_restart_index" ON "simcat"."sync_runs" USING btree ("backfill_since") WHERE restart;--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.removal_held_at IS 'The library was not listed, and a guard held its removal: since when removals are held without a break. NULL: it is listed, its removal was not held, or it is marked as removed.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.restart IS 'Whether the backfill began with --restart. Until a library is read after such a run''s backfill_since, every read of it compares row by row, whatever content_hash is.';
