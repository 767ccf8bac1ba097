-- The tables, their comments and the privileges of the roles. Views and functions are in migrations/views. src/db/migrate.ts
-- creates the schemas.
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
CREATE TABLE "simcat"."library_days" (
	"owner" text COLLATE "C" NOT NULL,
	"library_name" text COLLATE "C" NOT NULL,
	"from_day" date NOT NULL,
	"to_day" date,
	"live" boolean NOT NULL,
	"scenarios" bigint,
	"results" bigint,
	"bytes" bigint,
	"package_name" text,
	"package_version" text,
	"last_read_at" timestamp (6) with time zone,
	CONSTRAINT "library_days_owner_library_name_from_day_pk" PRIMARY KEY("owner","library_name","from_day"),
	CONSTRAINT "library_days_not_empty" CHECK (to_day > from_day)
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
	"reread_reason" text,
	"shrunk_run_id" bigint,
	"suspect_reads" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"last_failed_at" timestamp (6) with time zone,
	"last_success_at" timestamp (6) with time zone,
	"settles_at" timestamp (6) with time zone,
	"removal_held_at" timestamp (6) with time zone,
	"scenario_count" bigint,
	"result_count" bigint,
	"last_scenario_at" timestamp (6) with time zone,
	"last_scenario_id" bigint,
	CONSTRAINT "library_sync_owner_library_name_pk" PRIMARY KEY("owner","library_name")
);
--> statement-breakpoint
CREATE TABLE "simcat"."owner_days" (
	"day" date NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"libraries" bigint NOT NULL,
	"scenarios" bigint NOT NULL,
	"results" bigint NOT NULL,
	"bytes" bigint NOT NULL,
	"sizes_unread" bigint NOT NULL,
	"oldest_read_at" timestamp (6) with time zone,
	CONSTRAINT "owner_days_owner_day_pk" PRIMARY KEY("owner","day")
);
--> statement-breakpoint
CREATE TABLE "simcat"."prunes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "simcat"."prunes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"pruned_at" timestamp (6) with time zone NOT NULL,
	"cutoff" timestamp (6) with time zone NOT NULL,
	"library_versions" bigint,
	"scenario_versions" bigint
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
CREATE TABLE "simcat"."snapshot_days" (
	"day" date PRIMARY KEY NOT NULL,
	"run_id" bigint NOT NULL,
	"taken_at" timestamp (6) with time zone NOT NULL
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
	"version" text NOT NULL,
	"restart" boolean DEFAULT false NOT NULL,
	"listing_complete" boolean
);
--> statement-breakpoint
ALTER TABLE "simcat"."scenarios" ADD CONSTRAINT "scenarios_owner_library_name_libraries_owner_library_name_fk" FOREIGN KEY ("owner","library_name") REFERENCES "simcat"."libraries"("owner","library_name") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
CREATE UNIQUE INDEX "leases_name_token_key" ON "simcat"."leases" USING btree ("name","token");
--> statement-breakpoint
CREATE INDEX "library_days_open_index" ON "simcat"."library_days" USING btree ("owner","library_name") WHERE to_day IS NULL;
--> statement-breakpoint
CREATE INDEX "library_history_valid_to_index" ON "simcat"."library_history" USING btree ("valid_to");
--> statement-breakpoint
CREATE INDEX "library_history_superseded_by_index" ON "simcat"."library_history" USING btree ("superseded_by");
--> statement-breakpoint
CREATE INDEX "owner_days_day_index" ON "simcat"."owner_days" USING btree ("day");
--> statement-breakpoint
CREATE UNIQUE INDEX "rejects_fingerprint_index" ON "simcat"."rejects" USING btree ("fingerprint");
--> statement-breakpoint
CREATE INDEX "rejects_open_index" ON "simcat"."rejects" USING btree ("owner","library_name") WHERE resolved_at IS NULL;
--> statement-breakpoint
CREATE INDEX "rejects_unnamed_index" ON "simcat"."rejects" USING btree ("first_seen_at") WHERE kind = 'listing' AND owner IS NULL;
--> statement-breakpoint
CREATE INDEX "scenario_history_valid_to_index" ON "simcat"."scenario_history" USING btree ("valid_to");
--> statement-breakpoint
CREATE INDEX "scenario_history_superseded_by_index" ON "simcat"."scenario_history" USING btree ("superseded_by");
--> statement-breakpoint
CREATE INDEX "sync_runs_restart_index" ON "simcat"."sync_runs" USING btree ("backfill_since") WHERE restart;
--> statement-breakpoint
-- Only its owner can comment on a schema, so a migration by another role skips the comment.
DO $$ BEGIN
  COMMENT ON SCHEMA simcat IS 'A copy of one Simulation Cloud organization, kept by simcat. Read it freely, but write nothing into it. Start with libraries and scenarios: rows with removed_at NULL are live. sync_runs shows how fresh the copy is. All times are by the database''s clock, except last_modified_at, which is the service''s.';
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$;
--> statement-breakpoint
COMMENT ON TABLE simcat.leases IS 'The right to write: one row, renewed while a run is in progress. A run that finds another token here stops.';
COMMENT ON COLUMN simcat.leases.name IS 'What the lease is for: sync.';
COMMENT ON COLUMN simcat.leases.holder IS 'Host and process id of the last process that took the lease.';
COMMENT ON COLUMN simcat.leases.token IS 'Fencing token: increases with every takeover, but not with a renewal. Each writing transaction of a run checks that the token is still its own.';
COMMENT ON COLUMN simcat.leases.expires_at IS 'When another run may take over the lease: 20 s after the last renewal; renewed every 5 s. -infinity: released.';
COMMENT ON TABLE simcat.libraries IS 'Every library that was ever stored and not pruned, one row each, in its newest version. Rows with removed_at NULL are live. Earlier versions are in library_history; library_sync shows how fresh each copy is.';
COMMENT ON COLUMN simcat.libraries.owner IS 'The uploadUser of the list entry, byte for byte, or SIMCAT_DEFAULT_OWNER if the entry has none. First part of the key and of the library''s URL. Sorted by bytes (collation C). Not the same as library_owner.';
COMMENT ON COLUMN simcat.libraries.library_name IS 'The libraryName of the list entry, byte for byte: not trimmed, case-folded or normalised. Second part of the key. If the metadata has another name, that one is only in metadata.';
COMMENT ON COLUMN simcat.libraries.library_owner IS 'The libraryOwner of the metadata, as sent. May differ from owner and is not part of the key. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat.libraries.last_modified IS 'The lastModified text of the list entry under which this content was stored, as sent. Its format, time zone and precision are unknown: do not sort or compare it. NULL: listed without a date. The newest listed text is in library_sync.listed_text, the text of the metadata in metadata.';
COMMENT ON COLUMN simcat.libraries.last_modified_at IS 'last_modified as a time: the start of the minute, day or other period that the text names. A text without a time zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or an unknown format. For reports only: simcat decides nothing by it.';
COMMENT ON COLUMN simcat.libraries.file_size IS 'The fileSize text of the metadata, as sent, such as 240 KB. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat.libraries.file_size_bytes IS 'file_size in bytes; 1 KB is 1024 bytes. As rounded as the text, or exact if the text has the exact bytes in brackets. NULL: not sent, or not understood. Never 0 for an unknown size, so a sum omits unknown sizes.';
COMMENT ON COLUMN simcat.libraries.package_name IS 'The packageName of the metadata, as sent: the simulation package. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat.libraries.package_version IS 'The packageVersion of the metadata, as sent. Compare versions part by part, not as texts: 4.10 is newer than 4.9. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat.libraries.description IS 'The description of the metadata, as sent. It may be megabytes long. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat.libraries.listed IS 'The list entry as JSON, unknown fields included. Numbers are exact; white space, key order and duplicate keys are not kept. A change of unknown fields only updates this column and creates no version. NULL: no list entry stored yet.';
COMMENT ON COLUMN simcat.libraries.metadata IS 'The metadata as JSON, unknown fields included, stored like listed. NULL: no metadata stored yet.';
COMMENT ON COLUMN simcat.libraries.first_seen_at IS 'When simcat first stored this library. Not when the service created it. Kept when the library is removed and returns.';
COMMENT ON COLUMN simcat.libraries.changed_at IS 'When simcat stored this version, which is valid from then on. Not when the library was edited.';
COMMENT ON COLUMN simcat.libraries.removed_at IS 'When simcat found the library no longer listed. NULL: live. The row, its scenarios and its history are kept. Not a proof of deletion: an unpublished library looks the same.';
COMMENT ON COLUMN simcat.libraries.run_id IS 'The run that wrote this version (sync_runs.id, no foreign key).';
COMMENT ON TABLE simcat.library_history IS 'The superseded versions of libraries. Each was valid from valid_from (inclusive) to valid_to (exclusive). Removals and returns create versions too. The newest version is in libraries.';
COMMENT ON COLUMN simcat.library_history.owner IS 'As libraries.owner: part of the key.';
COMMENT ON COLUMN simcat.library_history.library_name IS 'As libraries.library_name: part of the key.';
COMMENT ON COLUMN simcat.library_history.library_owner IS 'As libraries.library_owner, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.library_history.last_modified IS 'As libraries.last_modified, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.library_history.last_modified_at IS 'As libraries.last_modified_at, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.library_history.file_size IS 'As libraries.file_size, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.library_history.file_size_bytes IS 'As libraries.file_size_bytes, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.library_history.package_name IS 'As libraries.package_name, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.library_history.package_version IS 'As libraries.package_version, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.library_history.description IS 'As libraries.description, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.library_history.listed IS 'As libraries.listed, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.library_history.metadata IS 'As libraries.metadata, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.library_history.first_seen_at IS 'As libraries.first_seen_at: the same in all versions of the library.';
COMMENT ON COLUMN simcat.library_history.changed_at IS 'When simcat stored this version; equal to valid_from.';
COMMENT ON COLUMN simcat.library_history.removed_at IS 'When the library was removed. NULL: it was not removed in this version.';
COMMENT ON COLUMN simcat.library_history.run_id IS 'The run that wrote this version (sync_runs.id, no foreign key). superseded_by is the run that ended it.';
COMMENT ON COLUMN simcat.library_history.valid_from IS 'When this version was stored: the first moment at which it was valid (inclusive).';
COMMENT ON COLUMN simcat.library_history.valid_to IS 'When the next version was stored: the end of this version (exclusive), always later than valid_from.';
COMMENT ON COLUMN simcat.library_history.superseded_by IS 'The run that ended this version by a change, a removal or a return (sync_runs.id, no foreign key).';
COMMENT ON TABLE simcat.library_sync IS 'The state of each library between two runs: its bookmark, its failures and the freshness of its copy. One row for every addressable library that is listed, stored or not; a stored library keeps its row after its removal.';
COMMENT ON COLUMN simcat.library_sync.owner IS 'Owner of the library; with library_name the key of libraries.';
COMMENT ON COLUMN simcat.library_sync.library_name IS 'Name of the library; with owner the key of libraries.';
COMMENT ON COLUMN simcat.library_sync.listed_text IS 'The lastModified text of the newest listing. NULL: listed without a date, or with one that could not be read.';
COMMENT ON COLUMN simcat.library_sync.bookmark IS 'The lastModified text that was listed before the last read that was stored completely. NULL: no read under a text was stored completely yet. An equal listed_text proves that nothing changed only if the bookmark is settled.';
COMMENT ON COLUMN simcat.library_sync.content_hash IS 'Hash of the list entry, the metadata and the scenario list as last stored. If the next read has the same hash, no row of content is written. NULL: never stored, or last stored in part.';
COMMENT ON COLUMN simcat.library_sync.bookmark_seen_at IS 'When listed_text was first listed without another text in between: the last byte of that listing. Earlier if the period of the date was over before the content was read: settles_at then follows from the date. NULL: never listed.';
COMMENT ON COLUMN simcat.library_sync.content_read_at IS 'When the last read that was stored, completely or in part, began: when its first request was sent. NULL: nothing stored yet.';
COMMENT ON COLUMN simcat.library_sync.reread_reason IS 'Why the library must be read again whatever its date is: rejects (an item could not be stored), failure (the last read or write failed), shrunk (its list lost too many scenarios), restored (it is listed again after a removal). NULL: no reason.';
COMMENT ON COLUMN simcat.library_sync.shrunk_run_id IS 'The run whose read lacked the scenarios in scenario_absences (sync_runs.id, no foreign key). NULL: no scenario awaits a second read.';
COMMENT ON COLUMN simcat.library_sync.suspect_reads IS 'Number of consecutive reads under one text that a cache may have answered, or whose metadata had another date than the listing or another library''s name. Above 0, the bookmark is not settled.';
COMMENT ON COLUMN simcat.library_sync.failures IS 'Number of consecutive failed reads or writes of the library; 0 after a success.';
COMMENT ON COLUMN simcat.library_sync.last_error IS 'Code and message of the last failure. NULL: no failure since the last stored read.';
COMMENT ON COLUMN simcat.library_sync.last_failed_at IS 'When a read or write of the library last failed; kept after a success. NULL: never.';
COMMENT ON COLUMN simcat.library_sync.last_success_at IS 'When the content was last stored completely, or found unchanged. NULL: never.';
COMMENT ON COLUMN simcat.library_sync.settles_at IS 'The last moment at which an edit can have the bookmark''s text: a read that begins later settles the bookmark. NULL: unknown, and the bookmark is not settled.';
COMMENT ON COLUMN simcat.library_sync.removal_held_at IS 'Since when guards have held the removal of the library, which is not listed. NULL: it is listed, its removal was not held, or it is removed.';
COMMENT ON COLUMN simcat.library_sync.scenario_count IS 'Number of its scenarios that are not removed, results included. Stored together with the content, so that no query has to count scenarios. A removed library keeps its number. NULL: nothing stored yet.';
COMMENT ON COLUMN simcat.library_sync.result_count IS 'Number of those scenarios that are results: is_result is true, or it was not sent and there is a parent. NULL: nothing stored yet.';
COMMENT ON COLUMN simcat.library_sync.last_scenario_at IS 'The newest last_modified_at of its scenarios that are not marked as removed, without dates that were more than a day in the future when the content was stored. Kept like scenario_count. NULL: no such date.';
COMMENT ON COLUMN simcat.library_sync.last_scenario_id IS 'The scenario with that date; of several, the one with the greatest number. NULL: no such date.';
COMMENT ON TABLE simcat.rejects IS 'Items that the service sent and that could not be stored, one row each, with the reason. Open rejects have resolved_at NULL; at most 100 open ones are kept for each library.';
COMMENT ON COLUMN simcat.rejects.id IS 'Number of the reject, without further meaning.';
COMMENT ON COLUMN simcat.rejects.run_id IS 'The run that last received the item (sync_runs.id, no foreign key).';
COMMENT ON COLUMN simcat.rejects.owner IS 'Owner of the item''s library, as libraries.owner; the library need not be stored. NULL: the key could not be read, or is too long.';
COMMENT ON COLUMN simcat.rejects.library_name IS 'Name of the item''s library, as libraries.library_name; the library need not be stored. NULL: the key could not be read, or is too long.';
COMMENT ON COLUMN simcat.rejects.kind IS 'What was rejected: listing (a list entry), metadata (a library''s metadata) or scenario (an item of a scenario list).';
COMMENT ON COLUMN simcat.rejects.code IS 'Stable name of the problem, such as wrong_type, missing_field, not_an_object, bad_text, out_of_range, contradiction, unaddressable, too_deep, paged_answer.';
COMMENT ON COLUMN simcat.rejects.path IS 'The field that has the problem, such as lastModified. Empty: the whole item.';
COMMENT ON COLUMN simcat.rejects.reason IS 'The problem in one sentence. It never contains the payload.';
COMMENT ON COLUMN simcat.rejects.payload IS 'Source text of the item, cut to 64 KiB, so not always complete JSON. A NUL is written as \u0000, secrets are masked. For paged_answer, the Link header. Empty if the rejected items of the list are too large to be kept. Untrusted text: display it only as text.';
COMMENT ON COLUMN simcat.rejects.fingerprint IS 'SHA-256 (hex) of library, kind, code, path and complete payload: the same problem received again is the same row.';
COMMENT ON COLUMN simcat.rejects.first_seen_at IS 'When the item was first received.';
COMMENT ON COLUMN simcat.rejects.last_seen_at IS 'When the item was last received.';
COMMENT ON COLUMN simcat.rejects.resolved_at IS 'When a later response no longer had the problem, or the library was removed. NULL: open. A problem that is received again is open again.';
COMMENT ON TABLE simcat.scenario_absences IS 'Stored scenarios that a list lacked which had lost too many at once. They stay live until a read of a later run lacks them too; then they are marked as removed, and their rows here are deleted.';
COMMENT ON COLUMN simcat.scenario_absences.owner IS 'Owner of the library; with library_name the key of libraries.';
COMMENT ON COLUMN simcat.scenario_absences.library_name IS 'Name of the library; with owner the key of libraries.';
COMMENT ON COLUMN simcat.scenario_absences.scenario_id IS 'A stored scenario that was missing from the library''s last list.';
COMMENT ON COLUMN simcat.scenario_absences.run_id IS 'The run whose read lacked the scenario (sync_runs.id, no foreign key). Only a read of a later run can confirm that it is missing.';
COMMENT ON TABLE simcat.scenario_history IS 'The superseded versions of scenarios. Each was valid from valid_from (inclusive) to valid_to (exclusive). Removals and returns create versions too, but the removal of a library creates none of its scenarios. The newest version is in scenarios.';
COMMENT ON COLUMN simcat.scenario_history.owner IS 'As scenarios.owner: part of the key.';
COMMENT ON COLUMN simcat.scenario_history.library_name IS 'As scenarios.library_name: part of the key.';
COMMENT ON COLUMN simcat.scenario_history.scenario_id IS 'As scenarios.scenario_id: part of the key.';
COMMENT ON COLUMN simcat.scenario_history.parent_id IS 'As scenarios.parent_id, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.scenario_history.scenario_name IS 'As scenarios.scenario_name, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.scenario_history.is_result IS 'As scenarios.is_result, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.scenario_history.last_modified IS 'As scenarios.last_modified, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.scenario_history.last_modified_at IS 'As scenarios.last_modified_at, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.scenario_history.description IS 'As scenarios.description, in this version. NULL has the same meaning.';
COMMENT ON COLUMN simcat.scenario_history.raw IS 'As scenarios.raw, in this version.';
COMMENT ON COLUMN simcat.scenario_history.first_seen_at IS 'As scenarios.first_seen_at: the same in all versions of the scenario.';
COMMENT ON COLUMN simcat.scenario_history.changed_at IS 'When simcat stored this version; equal to valid_from.';
COMMENT ON COLUMN simcat.scenario_history.removed_at IS 'When the scenario was removed. NULL: it was not removed in this version.';
COMMENT ON COLUMN simcat.scenario_history.run_id IS 'The run that wrote this version (sync_runs.id, no foreign key). superseded_by is the run that ended it.';
COMMENT ON COLUMN simcat.scenario_history.valid_from IS 'When this version was stored: the first moment at which it was valid (inclusive).';
COMMENT ON COLUMN simcat.scenario_history.valid_to IS 'When the next version was stored: the end of this version (exclusive), always later than valid_from.';
COMMENT ON COLUMN simcat.scenario_history.superseded_by IS 'The run that ended this version by a change, a removal or a return (sync_runs.id, no foreign key).';
COMMENT ON TABLE simcat.scenario_staging IS 'Long scenario lists that are being read. They are written in short transactions and merged into scenarios in one. Each run that reads content empties this table first. Unlogged: a crash of the server empties it too.';
COMMENT ON COLUMN simcat.scenario_staging.stage IS 'Name of one list that is being read: the run''s lease token, a dot and a number.';
COMMENT ON COLUMN simcat.scenario_staging.scenario_id IS 'As scenarios.scenario_id, before the merge.';
COMMENT ON COLUMN simcat.scenario_staging.parent_id IS 'As scenarios.parent_id, before the merge. NULL has the same meaning.';
COMMENT ON COLUMN simcat.scenario_staging.scenario_name IS 'As scenarios.scenario_name, before the merge. NULL has the same meaning.';
COMMENT ON COLUMN simcat.scenario_staging.is_result IS 'As scenarios.is_result, before the merge. NULL has the same meaning.';
COMMENT ON COLUMN simcat.scenario_staging.last_modified IS 'As scenarios.last_modified, before the merge. NULL has the same meaning.';
COMMENT ON COLUMN simcat.scenario_staging.last_modified_at IS 'As scenarios.last_modified_at, before the merge. NULL has the same meaning.';
COMMENT ON COLUMN simcat.scenario_staging.description IS 'As scenarios.description, before the merge. NULL has the same meaning.';
COMMENT ON COLUMN simcat.scenario_staging.raw IS 'As scenarios.raw, before the merge.';
COMMENT ON TABLE simcat.scenarios IS 'Every scenario that was ever stored and not pruned, one row each, in its newest version. A scenario is live if neither it nor its library is removed: join libraries and check removed_at of both. Earlier versions are in scenario_history.';
COMMENT ON COLUMN simcat.scenarios.owner IS 'Owner of the scenario''s library; with library_name the key of libraries.';
COMMENT ON COLUMN simcat.scenarios.library_name IS 'Name of the scenario''s library; with owner the key of libraries.';
COMMENT ON COLUMN simcat.scenarios.scenario_id IS 'The scenarioId, as sent. Unique only within its library: ids repeat across libraries.';
COMMENT ON COLUMN simcat.scenarios.parent_id IS 'The parentId, as sent: scenario_id of the parent in the same library. NULL: not sent. 0 is stored as sent and means no parent. No foreign key: the parent may be missing, or the scenario itself.';
COMMENT ON COLUMN simcat.scenarios.scenario_name IS 'The scenarioName, as sent. People rename scenarios: parent_id names the parent, not the name. NULL: not sent.';
COMMENT ON COLUMN simcat.scenarios.is_result IS 'The isResult flag, as sent: true for a result, false for a parent scenario. It may contradict parent_id. NULL: not sent.';
COMMENT ON COLUMN simcat.scenarios.last_modified IS 'The lastModified text of the scenario, as sent. Its format, time zone and precision are unknown: do not sort or compare it. NULL: not sent.';
COMMENT ON COLUMN simcat.scenarios.last_modified_at IS 'last_modified as a time: the start of the minute, day or other period that the text names. A text without a time zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or an unknown format. For reports only: simcat decides nothing by it.';
COMMENT ON COLUMN simcat.scenarios.description IS 'The description, as sent. NULL: not sent.';
COMMENT ON COLUMN simcat.scenarios.raw IS 'The scenario as JSON, unknown fields included. Numbers are exact; white space, key order and duplicate keys are not kept. A change of unknown fields only updates this column and creates no version.';
COMMENT ON COLUMN simcat.scenarios.first_seen_at IS 'When simcat first stored this scenario. Not when the service created it. Kept when the scenario is removed and returns.';
COMMENT ON COLUMN simcat.scenarios.changed_at IS 'When simcat stored this version, which is valid from then on. Not when the scenario was edited.';
COMMENT ON COLUMN simcat.scenarios.removed_at IS 'When simcat found the scenario missing from its library''s list. NULL: not removed itself, and live if libraries.removed_at is NULL too. The row and its history are kept.';
COMMENT ON COLUMN simcat.scenarios.run_id IS 'The run that wrote this version (sync_runs.id, no foreign key).';
COMMENT ON TABLE simcat.sync_runs IS 'Every run that began, one row each: what it did, and how it ended. A run that is refused because another one is in progress has no row. Good runs of the whole organization have the status ok, partial or held, and scope NULL.';
COMMENT ON COLUMN simcat.sync_runs.id IS 'Number of the run; increases with time, with gaps.';
COMMENT ON COLUMN simcat.sync_runs.kind IS 'sync (incremental) or backfill (full).';
COMMENT ON COLUMN simcat.sync_runs.trigger IS 'What started the run: cli (a command) or schedule (the worker).';
COMMENT ON COLUMN simcat.sync_runs.scope IS 'The selectors: {"libraries": [[owner, name], …], "owners": [owner, …]}. NULL: the whole organization.';
COMMENT ON COLUMN simcat.sync_runs.allow_removals IS 'Whether --allow-removals let the run pass the removal guards. Its removals do not count towards the limit of the last 24 hours.';
COMMENT ON COLUMN simcat.sync_runs.backfill_since IS 'When the backfill began, including the interrupted runs that this run continues. NULL: a sync.';
COMMENT ON COLUMN simcat.sync_runs.status IS 'running; ok, partial or held (complete); source_unavailable, source_untrusted, unauthorized, database_failed, interrupted or failed (ended early); abandoned (its process died, or another run took over its lease). lost_lease is never stored, because a run without its lease writes nothing.';
COMMENT ON COLUMN simcat.sync_runs.started_at IS 'When the run began.';
COMMENT ON COLUMN simcat.sync_runs.finished_at IS 'When the run ended, or was found abandoned. NULL: in progress, or dead and not found yet.';
COMMENT ON COLUMN simcat.sync_runs.libraries_listed IS 'Number of libraries in the listing that have a readable key, without duplicates, whatever the scope.';
COMMENT ON COLUMN simcat.sync_runs.libraries_read IS 'Number of libraries whose content was read and stored, changed or not.';
COMMENT ON COLUMN simcat.sync_runs.libraries_skipped IS 'Number of listed libraries in scope that were not read, because no read was due.';
COMMENT ON COLUMN simcat.sync_runs.libraries_changed IS 'Number of read libraries that were new or changed, in their own row or in a scenario.';
COMMENT ON COLUMN simcat.sync_runs.libraries_failed IS 'Number of libraries whose content could not be read or stored. Their stored content is kept.';
COMMENT ON COLUMN simcat.sync_runs.libraries_removed IS 'Number of libraries that this run marked as removed.';
COMMENT ON COLUMN simcat.sync_runs.scenarios_inserted IS 'Number of scenarios stored for the first time.';
COMMENT ON COLUMN simcat.sync_runs.scenarios_updated IS 'Number of scenarios with a new version, returned ones included.';
COMMENT ON COLUMN simcat.sync_runs.scenarios_removed IS 'Number of scenarios that this run marked as removed. The scenarios of a removed library are not counted, because their rows do not change.';
COMMENT ON COLUMN simcat.sync_runs.scenarios_unchanged IS 'Number of scenarios that were read and were unchanged. Scenarios of skipped libraries are not counted.';
COMMENT ON COLUMN simcat.sync_runs.rejects IS 'Number of items that this run could not store, known ones included. May exceed the number of rows in rejects, which is limited for each library.';
COMMENT ON COLUMN simcat.sync_runs.requests IS 'Number of requests sent to the service, retries included.';
COMMENT ON COLUMN simcat.sync_runs.retries IS 'Number of requests that were sent again after a failure.';
COMMENT ON COLUMN simcat.sync_runs.bytes IS 'Bytes of the response bodies, after decompression.';
COMMENT ON COLUMN simcat.sync_runs.silent_changes IS 'Number of libraries that a full read found changed under an unchanged, settled date: edits that the service did not date.';
COMMENT ON COLUMN simcat.sync_runs.error IS 'Why the run ended as it did, and what to do. NULL: nothing to add to the counts.';
COMMENT ON COLUMN simcat.sync_runs.version IS 'The version of simcat that ran.';
COMMENT ON COLUMN simcat.sync_runs.restart IS 'Whether the backfill began with --restart. Until a library has been read after backfill_since of such a run, every read of it is compared row by row, whatever its content_hash is.';
COMMENT ON COLUMN simcat.sync_runs.listing_complete IS 'Whether each entry of the listing named its library, and the listing had one page. An entry with a key that no copy can hold does not count. NULL: no listing was read, or the run is not finished.';
COMMENT ON TABLE simcat.library_days IS 'The daily snapshots of the libraries, stored sparsely: a row holds from its first day until the next row of the library. Days without a snapshot (snapshot_days) are not known. simcat prune deletes nothing here.';
COMMENT ON COLUMN simcat.library_days.owner IS 'Owner of the library; with library_name the key of libraries, which may not contain it any more.';
COMMENT ON COLUMN simcat.library_days.library_name IS 'Name of the library; with owner the key of libraries, which may not contain it any more.';
COMMENT ON COLUMN simcat.library_days.from_day IS 'The first day, in UTC, whose snapshot found the library like this.';
COMMENT ON COLUMN simcat.library_days.to_day IS 'The day whose snapshot found another state: the row holds for the days before it. NULL: it still holds.';
COMMENT ON COLUMN simcat.library_days.live IS 'Whether the library was live. A removed one has one row with false, in which everything else is NULL. A library that no snapshot found live has no row.';
COMMENT ON COLUMN simcat.library_days.scenarios IS 'Number of its live scenarios, results included. NULL: removed, or never stored completely.';
COMMENT ON COLUMN simcat.library_days.results IS 'Number of those that are results, as in library_sync.result_count. NULL: removed, or never stored completely.';
COMMENT ON COLUMN simcat.library_days.bytes IS 'libraries.file_size_bytes. NULL: the size is not known, or the library was removed.';
COMMENT ON COLUMN simcat.library_days.package_name IS 'libraries.package_name. NULL: not known, or the library was removed.';
COMMENT ON COLUMN simcat.library_days.package_version IS 'libraries.package_version. NULL: not known, or the library was removed.';
COMMENT ON COLUMN simcat.library_days.last_read_at IS 'library_sync.content_read_at: when the last stored read of its content started. NULL: never read, or removed.';
COMMENT ON TABLE simcat.owner_days IS 'The sums of each daily snapshot by owner, for all owners that had a library in any snapshot up to that day. simcat prune deletes nothing here.';
COMMENT ON COLUMN simcat.owner_days.day IS 'The day in UTC, as in snapshot_days.';
COMMENT ON COLUMN simcat.owner_days.owner IS 'The uploading user.';
COMMENT ON COLUMN simcat.owner_days.libraries IS 'Number of live libraries. 0: all of them were removed.';
COMMENT ON COLUMN simcat.owner_days.scenarios IS 'Number of live scenarios, results included.';
COMMENT ON COLUMN simcat.owner_days.results IS 'Number of those that are results.';
COMMENT ON COLUMN simcat.owner_days.bytes IS 'Sum of the known sizes of the live libraries.';
COMMENT ON COLUMN simcat.owner_days.sizes_unread IS 'Number of live libraries whose size is not known, which bytes omits.';
COMMENT ON COLUMN simcat.owner_days.oldest_read_at IS 'The earliest last_read_at of the live libraries. NULL: no library is live, or none was ever read.';
COMMENT ON TABLE simcat.prunes IS 'The prunes that deleted history, one row each. A prune that deletes only resolved rejects, or nothing, has no row. These rows are never deleted.';
COMMENT ON COLUMN simcat.prunes.id IS 'Number of the prune; increases with time.';
COMMENT ON COLUMN simcat.prunes.pruned_at IS 'When the prune first deleted history. For prunes by versions before this table: when the schema was updated.';
COMMENT ON COLUMN simcat.prunes.cutoff IS 'Versions that ended before this time were deleted, with everything that was removed before it. Times from it on can be asked for. Recorded with the first deletion, so it holds for an interrupted prune too.';
COMMENT ON COLUMN simcat.prunes.library_versions IS 'Number of versions of libraries deleted. NULL: not known, because the prune was made by a version before this table.';
COMMENT ON COLUMN simcat.prunes.scenario_versions IS 'Number of versions of scenarios deleted. NULL: not known, because the prune was made by a version before this table.';
COMMENT ON TABLE simcat.snapshot_days IS 'The UTC days that have a snapshot, one row each: the first good run without selectors to end on a day takes it. A day without such a run has no row. simcat prune deletes nothing here.';
COMMENT ON COLUMN simcat.snapshot_days.day IS 'The day in UTC, by the database''s clock.';
COMMENT ON COLUMN simcat.snapshot_days.run_id IS 'The run that took the snapshot (sync_runs.id, no foreign key).';
COMMENT ON COLUMN simcat.snapshot_days.taken_at IS 'When it was taken, at the end of that run. Ages of reads are measured to this time.';
--> statement-breakpoint
-- The privileges of the roles that deploy/roles.sql creates, if they exist, on present and future objects of this role. If the
-- schemas belong to another role, their owner must grant them: run deploy/roles.sql again.
DO $$ BEGIN
  -- An organization with roles of its own, such as north_migrator, has no others.
  IF EXISTS (SELECT FROM pg_namespace JOIN pg_roles r ON r.oid = nspowner WHERE nspname = 'simcat' AND rolname LIKE '%\_migrator' AND rolname <> 'simcat_migrator') THEN RETURN; END IF;
  IF to_regrole('simcat_writer') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA simcat, simcat_migrations, simcat_report TO simcat_writer;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA simcat TO simcat_writer;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA simcat TO simcat_writer;
    GRANT SELECT ON ALL TABLES IN SCHEMA simcat_migrations, simcat_report TO simcat_writer;
    ALTER DEFAULT PRIVILEGES IN SCHEMA simcat GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO simcat_writer;
    ALTER DEFAULT PRIVILEGES IN SCHEMA simcat GRANT USAGE ON SEQUENCES TO simcat_writer;
    ALTER DEFAULT PRIVILEGES IN SCHEMA simcat_migrations, simcat_report GRANT SELECT ON TABLES TO simcat_writer;
  END IF;
  IF to_regrole('simcat_reader') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA simcat_report TO simcat_reader;
    GRANT SELECT ON ALL TABLES IN SCHEMA simcat_report TO simcat_reader;
    ALTER DEFAULT PRIVILEGES IN SCHEMA simcat_report GRANT SELECT ON TABLES TO simcat_reader;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'simcat_writer and simcat_reader could not be given their rights: run deploy/roles.sql';
END $$;
