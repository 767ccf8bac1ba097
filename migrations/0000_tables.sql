CREATE SCHEMA IF NOT EXISTS "simcat";
--> statement-breakpoint
CREATE TABLE "simcat"."leases" (
	"name" text PRIMARY KEY NOT NULL,
	"holder" text NOT NULL,
	"token" bigint NOT NULL,
	"expires_at" timestamp (6) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "simcat"."libraries" (
	"owner" text COLLATE "C" NOT NULL,
	"library_name" text COLLATE "C" NOT NULL,
	"library_owner" text,
	"last_modified" text,
	"last_modified_at" timestamp (6) with time zone,
	"file_size" text,
	"file_size_bytes" bigint,
	"package_name" text,
	"package_version" text,
	"description" text,
	"listed" jsonb,
	"metadata" jsonb,
	"first_seen_at" timestamp (6) with time zone NOT NULL,
	"changed_at" timestamp (6) with time zone NOT NULL,
	"removed_at" timestamp (6) with time zone,
	"run_id" bigint NOT NULL,
	CONSTRAINT "libraries_owner_library_name_pk" PRIMARY KEY("owner","library_name")
);
--> statement-breakpoint
CREATE TABLE "simcat"."library_history" (
	"owner" text COLLATE "C" NOT NULL,
	"library_name" text COLLATE "C" NOT NULL,
	"library_owner" text,
	"last_modified" text,
	"last_modified_at" timestamp (6) with time zone,
	"file_size" text,
	"file_size_bytes" bigint,
	"package_name" text,
	"package_version" text,
	"description" text,
	"listed" jsonb,
	"metadata" jsonb,
	"first_seen_at" timestamp (6) with time zone NOT NULL,
	"changed_at" timestamp (6) with time zone NOT NULL,
	"removed_at" timestamp (6) with time zone,
	"run_id" bigint NOT NULL,
	"valid_from" timestamp (6) with time zone NOT NULL,
	"valid_to" timestamp (6) with time zone NOT NULL,
	"superseded_by" bigint NOT NULL,
	CONSTRAINT "library_history_owner_library_name_valid_from_pk" PRIMARY KEY("owner","library_name","valid_from"),
	CONSTRAINT "library_history_not_empty" CHECK (valid_to > valid_from)
);
--> statement-breakpoint
CREATE TABLE "simcat"."library_sync" (
	"owner" text COLLATE "C" NOT NULL,
	"library_name" text COLLATE "C" NOT NULL,
	"listed_text" text,
	"bookmark" text,
	"content_hash" text,
	"bookmark_seen_at" timestamp (6) with time zone,
	"content_read_at" timestamp (6) with time zone,
	"owes" text,
	"shrunk_run_id" bigint,
	"doubtful_reads" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"last_failed_at" timestamp (6) with time zone,
	"last_success_at" timestamp (6) with time zone,
	CONSTRAINT "library_sync_owner_library_name_pk" PRIMARY KEY("owner","library_name")
);
--> statement-breakpoint
CREATE TABLE "simcat"."rejects" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "simcat"."rejects_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_id" bigint NOT NULL,
	"owner" text COLLATE "C",
	"library_name" text COLLATE "C",
	"kind" text NOT NULL,
	"code" text NOT NULL,
	"path" text NOT NULL,
	"reason" text NOT NULL,
	"payload" text NOT NULL,
	"fingerprint" text NOT NULL,
	"first_seen_at" timestamp (6) with time zone NOT NULL,
	"last_seen_at" timestamp (6) with time zone NOT NULL,
	"resolved_at" timestamp (6) with time zone
);
--> statement-breakpoint
CREATE TABLE "simcat"."scenario_absences" (
	"owner" text COLLATE "C" NOT NULL,
	"library_name" text COLLATE "C" NOT NULL,
	"scenario_id" bigint NOT NULL,
	"run_id" bigint NOT NULL,
	CONSTRAINT "scenario_absences_owner_library_name_scenario_id_pk" PRIMARY KEY("owner","library_name","scenario_id")
);
--> statement-breakpoint
CREATE TABLE "simcat"."scenario_history" (
	"owner" text COLLATE "C" NOT NULL,
	"library_name" text COLLATE "C" NOT NULL,
	"scenario_id" bigint NOT NULL,
	"parent_id" bigint,
	"scenario_name" text,
	"is_result" boolean,
	"last_modified" text,
	"last_modified_at" timestamp (6) with time zone,
	"description" text,
	"raw" jsonb NOT NULL,
	"first_seen_at" timestamp (6) with time zone NOT NULL,
	"changed_at" timestamp (6) with time zone NOT NULL,
	"removed_at" timestamp (6) with time zone,
	"run_id" bigint NOT NULL,
	"valid_from" timestamp (6) with time zone NOT NULL,
	"valid_to" timestamp (6) with time zone NOT NULL,
	"superseded_by" bigint NOT NULL,
	CONSTRAINT "scenario_history_owner_library_name_scenario_id_valid_from_pk" PRIMARY KEY("owner","library_name","scenario_id","valid_from"),
	CONSTRAINT "scenario_history_not_empty" CHECK (valid_to > valid_from)
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "simcat"."scenario_staging" (
	"stage" text NOT NULL,
	"scenario_id" bigint NOT NULL,
	"parent_id" bigint,
	"scenario_name" text,
	"is_result" boolean,
	"last_modified" text,
	"last_modified_at" timestamp (6) with time zone,
	"description" text,
	"raw" jsonb NOT NULL,
	CONSTRAINT "scenario_staging_stage_scenario_id_pk" PRIMARY KEY("stage","scenario_id")
);
--> statement-breakpoint
CREATE TABLE "simcat"."scenarios" (
	"owner" text COLLATE "C" NOT NULL,
	"library_name" text COLLATE "C" NOT NULL,
	"scenario_id" bigint NOT NULL,
	"parent_id" bigint,
	"scenario_name" text,
	"is_result" boolean,
	"last_modified" text,
	"last_modified_at" timestamp (6) with time zone,
	"description" text,
	"raw" jsonb NOT NULL,
	"first_seen_at" timestamp (6) with time zone NOT NULL,
	"changed_at" timestamp (6) with time zone NOT NULL,
	"removed_at" timestamp (6) with time zone,
	"run_id" bigint NOT NULL,
	CONSTRAINT "scenarios_owner_library_name_scenario_id_pk" PRIMARY KEY("owner","library_name","scenario_id")
);
--> statement-breakpoint
CREATE TABLE "simcat"."sync_runs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "simcat"."sync_runs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"trigger" text NOT NULL,
	"scope" jsonb,
	"allow_removals" boolean DEFAULT false NOT NULL,
	"backfill_since" timestamp (6) with time zone,
	"status" text NOT NULL,
	"started_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"finished_at" timestamp (6) with time zone,
	"libraries_listed" integer DEFAULT 0 NOT NULL,
	"libraries_read" integer DEFAULT 0 NOT NULL,
	"libraries_skipped" integer DEFAULT 0 NOT NULL,
	"libraries_changed" integer DEFAULT 0 NOT NULL,
	"libraries_failed" integer DEFAULT 0 NOT NULL,
	"libraries_removed" integer DEFAULT 0 NOT NULL,
	"scenarios_inserted" bigint DEFAULT 0 NOT NULL,
	"scenarios_updated" bigint DEFAULT 0 NOT NULL,
	"scenarios_removed" bigint DEFAULT 0 NOT NULL,
	"scenarios_unchanged" bigint DEFAULT 0 NOT NULL,
	"rejects" integer DEFAULT 0 NOT NULL,
	"requests" integer DEFAULT 0 NOT NULL,
	"retries" integer DEFAULT 0 NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"silent_changes" integer DEFAULT 0 NOT NULL,
	"error" text,
	"version" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "simcat"."scenarios" ADD CONSTRAINT "scenarios_owner_library_name_libraries_owner_library_name_fk" FOREIGN KEY ("owner","library_name") REFERENCES "simcat"."libraries"("owner","library_name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "leases_name_token_key" ON "simcat"."leases" USING btree ("name","token");--> statement-breakpoint
CREATE INDEX "library_history_valid_to_index" ON "simcat"."library_history" USING btree ("valid_to");--> statement-breakpoint
CREATE UNIQUE INDEX "rejects_fingerprint_index" ON "simcat"."rejects" USING btree ("fingerprint");--> statement-breakpoint
CREATE INDEX "rejects_open_index" ON "simcat"."rejects" USING btree ("owner","library_name") WHERE resolved_at IS NULL;--> statement-breakpoint
CREATE INDEX "scenario_history_valid_to_index" ON "simcat"."scenario_history" USING btree ("valid_to");