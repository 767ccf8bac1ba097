-- What each table and column means, for whoever meets them in psql or a BI tool. docs/schema.md says the same at length.
-- Only its owner may comment on a schema; where another role made it, the migration must not fail for that.
DO $$ BEGIN
  COMMENT ON SCHEMA simcat IS 'A copy of everything that one Simulation Cloud organization has, kept by simcat. Read it freely, write nothing into it. Begin with libraries and scenarios, where live rows have removed_at NULL; sync_runs says how fresh it all is. Times are moments by the database''s clock.';
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$;
--> statement-breakpoint
COMMENT ON TABLE simcat.libraries IS 'One row for every library that was ever stored, in its newest version. Live ones have removed_at NULL. Earlier versions: library_history. How fresh each is: library_sync.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.owner IS 'The uploadUser that the service lists, byte for byte: first part of the key and of the library''s URL. SIMCAT_DEFAULT_OWNER where the entry named nobody. Sorts by bytes (collation C). Not library_owner.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.library_name IS 'The libraryName as listed, byte for byte: second part of the key, neither trimmed nor case-folded nor normalised. A name in the metadata that differs stays in metadata.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.library_owner IS 'The libraryOwner of the metadata, for people. May differ from owner and is no part of the key. NULL: none was sent, or the metadata could not be read so far (see rejects).';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.last_modified IS 'The service''s lastModified text, exactly as listed when this content was stored. Format, zone and grain are unknown: do not sort or compare it. NULL: listed without one. The text listed now is library_sync.listed_text; the metadata''s own is in metadata.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.last_modified_at IS 'Our reading of last_modified: the start of the minute, day or other grain that the text names. Where the text has no zone, SIMCAT_SERVICE_TIMEZONE is assumed. NULL: no text, or a format that simcat does not know. For reports only; it decides nothing.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.file_size IS 'The fileSize text of the metadata as sent, such as 240 KB. NULL: none was sent, or the metadata could not be read so far.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.file_size_bytes IS 'Our reading of file_size in bytes, 1 KB being 1024 bytes; as rounded as the text is, exact where the text gives exact bytes in brackets. NULL when not sure; never 0 for unknown, so that a sum leaves unknown sizes out.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.package_name IS 'The packageName of the metadata as sent: the simulation package. NULL: none was sent, or the metadata could not be read so far.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.package_version IS 'The packageVersion of the metadata as sent. Text of three or more parts: compare it part by part, not as text (4.10 comes after 4.9). NULL: none was sent, or the metadata could not be read so far.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.description IS 'The description of the metadata as sent; may be megabytes long. NULL: none was sent, or the metadata could not be read so far.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.listed IS 'The library''s entry of the listing, unknown fields included. Numbers are exact; white space, key order and repeated keys are not kept. A change of unknown fields alone is written in place and makes no version. NULL: no entry could be read so far.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.metadata IS 'The library''s metadata object, unknown fields included, kept like listed. NULL: no metadata could be read so far.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.first_seen_at IS 'When simcat first stored this library, by the database''s clock. Not when the service created it. Survives removal and return.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.changed_at IS 'Since when this version holds: when simcat stored it, not when somebody edited the library.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.removed_at IS 'When simcat found it no longer listed. NULL: live. The row, its scenarios and its history stay. No proof of deletion: an unpublished library looks the same.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.libraries.run_id IS 'The run that wrote this version (sync_runs.id; no foreign key).';
--> statement-breakpoint
COMMENT ON TABLE simcat.scenarios IS 'One row for every scenario that was ever stored, in its newest version. Live when neither it nor its library is removed: join libraries and ask removed_at of both. Earlier versions: scenario_history.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.owner IS 'With library_name the key of the library in libraries.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.library_name IS 'With owner the key of the library in libraries.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.scenario_id IS 'The scenarioId as sent. Unique within its library only: ids repeat across libraries.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.parent_id IS 'The parentId as sent: scenario_id of the parent in the same library. NULL: none was sent. 0 is kept as sent and means none. No foreign key: the parent may be missing, or the scenario itself.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.scenario_name IS 'The scenarioName as sent. People rename both: parentage is in parent_id, never in the name. NULL: none was sent.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.is_result IS 'The isResult flag as sent: true for a result, false for a parent scenario. Not derived, so it may disagree with parent_id. NULL: none was sent.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.last_modified IS 'The scenario''s own lastModified text as sent. Format, zone and grain are unknown: do not sort or compare it. NULL: none was sent.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.last_modified_at IS 'Our reading of last_modified: the start of the minute, day or other grain that the text names. Where the text has no zone, SIMCAT_SERVICE_TIMEZONE is assumed. NULL: no text, or a format that simcat does not know. For reports only; it decides nothing.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.description IS 'The description as sent. NULL: none was sent.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.raw IS 'The scenario''s whole object, unknown fields included. Numbers are exact; white space, key order and repeated keys are not kept. A change of unknown fields alone is written in place and makes no version.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.first_seen_at IS 'When simcat first stored this scenario, by the database''s clock. Not when it was made. Survives removal and return.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.changed_at IS 'Since when this version holds: when simcat stored it, not when somebody edited the scenario.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.removed_at IS 'When simcat found it missing from its library''s list. NULL: not removed itself; it is live only while libraries.removed_at is NULL too. The row and its history stay.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenarios.run_id IS 'The run that wrote this version (sync_runs.id; no foreign key).';
--> statement-breakpoint
COMMENT ON TABLE simcat.library_history IS 'Superseded versions of libraries: each held from valid_from (included) to valid_to (not included). Removal and return are versions too. The newest version is in libraries.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.owner IS 'As in libraries: part of the key.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.library_name IS 'As in libraries: part of the key.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.library_owner IS 'As in libraries.library_owner, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.last_modified IS 'As in libraries.last_modified, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.last_modified_at IS 'As in libraries.last_modified_at, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.file_size IS 'As in libraries.file_size, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.file_size_bytes IS 'As in libraries.file_size_bytes, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.package_name IS 'As in libraries.package_name, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.package_version IS 'As in libraries.package_version, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.description IS 'As in libraries.description, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.listed IS 'As in libraries.listed, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.metadata IS 'As in libraries.metadata, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.first_seen_at IS 'As in libraries: when simcat first stored this library. The same in all its versions.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.changed_at IS 'Since when this version held; equal to valid_from.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.removed_at IS 'Set in the versions during which the library was marked as removed: since when. NULL in all others.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.run_id IS 'The run that wrote this version, not the one that ended it (sync_runs.id; no foreign key).';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.valid_from IS 'First moment of this version (included), by the database''s clock; its changed_at.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.valid_to IS 'End of this version (not included): the changed_at of the one that followed it. Always later than valid_from.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_history.superseded_by IS 'The run that ended this version by a change, a removal or a return (sync_runs.id; no foreign key).';
--> statement-breakpoint
COMMENT ON TABLE simcat.scenario_history IS 'Superseded versions of scenarios: each held from valid_from (included) to valid_to (not included). Removal and return are versions too, a removal of the library is not. The newest version is in scenarios.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.owner IS 'As in scenarios: part of the key.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.library_name IS 'As in scenarios: part of the key.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.scenario_id IS 'As in scenarios: part of the key.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.parent_id IS 'As in scenarios.parent_id, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.scenario_name IS 'As in scenarios.scenario_name, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.is_result IS 'As in scenarios.is_result, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.last_modified IS 'As in scenarios.last_modified, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.last_modified_at IS 'As in scenarios.last_modified_at, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.description IS 'As in scenarios.description, in this version. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.raw IS 'As in scenarios.raw, in this version.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.first_seen_at IS 'As in scenarios: when simcat first stored this scenario. The same in all its versions.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.changed_at IS 'Since when this version held; equal to valid_from.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.removed_at IS 'Set in the versions during which the scenario was marked as removed: since when. NULL in all others.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.run_id IS 'The run that wrote this version, not the one that ended it (sync_runs.id; no foreign key).';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.valid_from IS 'First moment of this version (included), by the database''s clock; its changed_at.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.valid_to IS 'End of this version (not included): the changed_at of the one that followed it. Always later than valid_from.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_history.superseded_by IS 'The run that ended this version by a change, a removal or a return (sync_runs.id; no foreign key).';
--> statement-breakpoint
COMMENT ON TABLE simcat.library_sync IS 'What the next run must know of each library, and how fresh its copy is. One row for every addressable library that was listed, stored or not; a stored one keeps its row after removal.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.owner IS 'With library_name the key of the library in libraries.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.library_name IS 'With owner the key of the library in libraries.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.listed_text IS 'The lastModified text as last listed. NULL: listed without one, or with one that could not be read.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.bookmark IS 'The lastModified text that was listed before the last read whose content was stored whole. NULL: none was stored whole under a text so far. An equal listed_text alone proves nothing: the bookmark must be settled as well.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.content_hash IS 'Digest of the list entry and of both content answers as last stored. The same digest again: the rows are not touched. NULL: never stored, or the last store was not whole.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.bookmark_seen_at IS 'When the currently listed text was first seen in its present unbroken stretch: the last byte of that listing, by the database''s clock. For a date that was wholly past when the content was read, an earlier moment, from which the time in which an edit may still carry the text ends with the date itself. NULL: never listed.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.content_read_at IS 'When the last read that was stored, whole or in part, began: its first request was sent. By the database''s clock. NULL: nothing was stored so far.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.owes IS 'Why the content must be read again whatever its date says: rejects (an item could not be read), failure (the last read or store failed), shrunk (the scenario list lost too much at once), restored (it was removed and is listed again). NULL: owes nothing.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.shrunk_run_id IS 'The run whose read lacked the scenarios in scenario_absences (sync_runs.id; no foreign key). NULL: no absence waits for a second read.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.doubtful_reads IS 'How many reads in a row under one text a cache may have answered, or named another moment in the metadata than in the listing. Above 0 the bookmark does not settle.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.failures IS 'How many times in a row its read or store failed; 0 after one that worked.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.last_error IS 'Code and words of the last failure. NULL: none since the last read that was stored.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.last_failed_at IS 'When its read or store last failed; kept after it works again. NULL: never.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.last_success_at IS 'When its content was last stored whole, or found to be the same. How old the last good copy is. NULL: never.';
--> statement-breakpoint
COMMENT ON TABLE simcat.scenario_absences IS 'Scenarios that a list lacked after it had lost too much at once. They stay live until a second read lacks them too; then they are marked as removed and their rows here go.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_absences.owner IS 'With library_name the key of the library in libraries.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_absences.library_name IS 'With owner the key of the library in libraries.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_absences.scenario_id IS 'A stored scenario that the library''s last list lacked.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_absences.run_id IS 'The run whose read lacked it (sync_runs.id; no foreign key). Only a read of a later run can confirm it.';
--> statement-breakpoint
COMMENT ON TABLE simcat.scenario_staging IS 'Long scenario lists on their way into scenarios, written in short transactions and merged in one. Nothing to ask questions of: a run that reads content empties it first. Unlogged: a crash of the server empties it.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_staging.stage IS 'Names one list being read: the run''s lease token, a dot, a number.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_staging.scenario_id IS 'As in scenarios.scenario_id, on its way there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_staging.parent_id IS 'As in scenarios.parent_id, on its way there. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_staging.scenario_name IS 'As in scenarios.scenario_name, on its way there. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_staging.is_result IS 'As in scenarios.is_result, on its way there. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_staging.last_modified IS 'As in scenarios.last_modified, on its way there. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_staging.last_modified_at IS 'As in scenarios.last_modified_at, on its way there. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_staging.description IS 'As in scenarios.description, on its way there. NULL means the same as there.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.scenario_staging.raw IS 'As in scenarios.raw, on its way there.';
--> statement-breakpoint
COMMENT ON TABLE simcat.sync_runs IS 'One row for every run that began: what it did, how it ended. A refused one (another run at work) has none. Good runs of the whole organization: status ok, partial or held, scope NULL.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.id IS 'Number of the run; rises with time, with gaps.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.kind IS 'sync (incremental) or backfill (full).';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.trigger IS 'cli (a command) or schedule (the long-running worker).';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.scope IS 'The selectors: {"libraries": [[owner, name], …], "owners": [owner, …]}. NULL: the whole organization.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.allow_removals IS 'Whether this run was allowed to pass the removal guards. Its removals do not count towards the limit of the last 24 hours.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.backfill_since IS 'For a backfill: since when it has been reading, together with the interrupted ones that it went on from. NULL for a sync.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.status IS 'running; ok, partial or held (it came to its end); source_unavailable, source_untrusted, unauthorized, database_failed, interrupted or failed (it ended before its time); abandoned (its process died, or another run took its lease over). lost_lease is told by the command alone: a run without its lease writes nothing.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.started_at IS 'When the run began, by the database''s clock.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.finished_at IS 'When the run ended, or was found abandoned. NULL: still running, or dead and not yet found.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.libraries_listed IS 'Libraries in the listing whose identity could be read, each once, whatever the scope.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.libraries_read IS 'Libraries whose content was read and stored, changed or not.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.libraries_skipped IS 'Libraries in scope that were listed and not read, because nothing was due.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.libraries_changed IS 'Libraries read that turned out new or changed, in their own row or in a scenario.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.libraries_failed IS 'Libraries whose content could not be read or stored; what was stored of them before stays.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.libraries_removed IS 'Libraries that this run marked as removed.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.scenarios_inserted IS 'Scenarios stored for the first time.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.scenarios_updated IS 'Scenarios that got another version, those that came back included.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.scenarios_removed IS 'Scenarios that this run marked as removed. A removed library''s scenarios are not counted: their rows are not touched.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.scenarios_unchanged IS 'Scenarios read and found the same; those of skipped libraries are not counted.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.rejects IS 'Items that could not be read in this run, known ones included. May exceed the rows in rejects, which are capped for each library.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.requests IS 'Requests sent to the service, retries included.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.retries IS 'Requests that were sent again after a failed one.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.bytes IS 'Bytes of the answers'' bodies, after decompression.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.silent_changes IS 'Libraries found changed by a full read under an unchanged, settled date: edits that the service did not date.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.error IS 'Why the run ended as it did and what to do. NULL: nothing beyond the counts.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.version IS 'The simcat version that ran.';
--> statement-breakpoint
COMMENT ON TABLE simcat.rejects IS 'Things that the service sent and simcat could not store, each once, with the reason. Open ones have resolved_at NULL; at most 100 open ones are kept for a library.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.rejects.id IS 'Number of the reject; of no other meaning.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.rejects.run_id IS 'The run that met it last (sync_runs.id; no foreign key).';
--> statement-breakpoint
COMMENT ON COLUMN simcat.rejects.owner IS 'Owner of the library that it belongs to, as in libraries. NULL: the identity could not be read. The library need not be stored.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.rejects.library_name IS 'Name of the library that it belongs to, as in libraries. NULL: the identity could not be read. The library need not be stored.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.rejects.kind IS 'What was rejected: listing (a list entry), metadata (a library''s metadata), scenario (an item of a scenario list).';
--> statement-breakpoint
COMMENT ON COLUMN simcat.rejects.code IS 'Stable name of the fault, such as wrong_type, missing_field, not_an_object, bad_text, out_of_range, contradiction, unaddressable, too_deep, paged_answer.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.rejects.path IS 'The field at fault, such as lastModified; empty for the item as a whole.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.rejects.reason IS 'The fault in one sentence for people. Never holds the payload.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.rejects.payload IS 'The item''s source text, cut to 64 KiB, so not always whole JSON; a NUL is written \u0000. For paged_answer the Link header. Text from outside: show it as text. Empty where a list had too many rejects to keep them all.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.rejects.fingerprint IS 'SHA-256, in hex, of library, kind, code, path and uncut payload: the same fault met again is the same row.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.rejects.first_seen_at IS 'When it was first met, by the database''s clock.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.rejects.last_seen_at IS 'When it was last met.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.rejects.resolved_at IS 'When a later answer no longer had it, or its library was removed. NULL: open. Met again, it is open again.';
--> statement-breakpoint
COMMENT ON TABLE simcat.leases IS 'Who may write. One row, renewed while a run is at work; a run that finds its token changed stops.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.leases.name IS 'What the lease is for: sync.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.leases.holder IS 'Host and process id of who took it last; for people.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.leases.token IS 'Fencing token: rises with every takeover, never with a renewal. Each writing transaction of a run checks that it is still the run''s own.';
--> statement-breakpoint
COMMENT ON COLUMN simcat.leases.expires_at IS 'When it may be taken over, by the database''s clock; renewed every 5 s to 20 s ahead. -infinity: given back.';
