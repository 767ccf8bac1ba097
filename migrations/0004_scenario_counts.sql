ALTER TABLE "simcat"."library_sync" ADD COLUMN "scenario_count" bigint;--> statement-breakpoint
ALTER TABLE "simcat"."library_sync" ADD COLUMN "result_count" bigint;