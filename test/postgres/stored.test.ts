import { expect, onTestFinished, test } from "vitest";
import { parseStored, readStoredLibrary, streamStoredLibraries } from "../../src/db/read/stored-libraries.ts";
import { streamRows } from "../../src/db/read/stream-rows.ts";
import { keyText } from "../../src/key.ts";
import type { LibraryKey, StoredLibrary, SyncState } from "../../src/model.ts";
import { freshTestDatabase, type TestDatabase } from "../support/database.ts";
import { NEVER_READ } from "../support/sync-state.ts";

const USUAL: SyncState = {
  ...NEVER_READ,
  listedText: "1 May 2024",
  bookmark: "1 May 2024",
  contentHash: "a hash",
  bookmarkSeenAt: Date.UTC(2024, 4, 2, 3, 4, 5, 678),
  contentReadAt: Date.UTC(2026, 10, 22),
};

function usual(key: LibraryKey, sync: Partial<SyncState> = {}): StoredLibrary {
  return { key, state: "live", sync: { ...USUAL, ...sync } };
}

async function insert({ query }: TestDatabase, library: StoredLibrary): Promise<void> {
  const { key, state, sync } = library;
  const { owner, name } = key;
  if (state !== "listed") {
    await query(
      `INSERT INTO simcat.libraries (owner, library_name, first_seen_at, changed_at, removed_at, run_id)
       VALUES ($1, $2, now(), now(), to_timestamp($3::float8 / 1000), 1)`,
      [owner, name, library.state === "removed" ? library.removedAt : null],
    );
  }
  if (sync === null) return;
  await query(
    `INSERT INTO simcat.library_sync (owner, library_name, listed_text, bookmark, content_hash, bookmark_seen_at,
       content_read_at, reread_reason, shrunk_run_id, failures, suspect_reads)
     VALUES ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000), to_timestamp($7::float8 / 1000), $8, $9, $10, $11)`,
    [
      ...[owner, name, sync.listedText, sync.bookmark, sync.contentHash, sync.bookmarkSeenAt, sync.contentReadAt],
      ...[sync.rereadReason, sync.hasAbsences ? 7 : null, sync.failures, sync.suspectReads],
    ],
  );
}

const key = (name: string, owner = "ann") => ({ owner, name });

const LIBRARIES: readonly StoredLibrary[] = [
  usual(key("usual")),
  usual(key("{}", "{")),
  usual(key("\x1f")),
  usual(key("a\x1fb")),
  usual(key("b", "o\x1f")),
  usual(key("b", "\x1fo")),
  usual(key("lines\r\n\ttabs\\n", "🌲\u2028"), { listedText: "é 🌲", bookmark: "é 🌲" }),
  usual(key("its text"), { listedText: "\x1f1\x1f", bookmark: "\x1f1\x1f" }),
  usual(key("an empty text"), { listedText: "", bookmark: "" }),
  usual(key("an empty hash"), { contentHash: "" }),
  usual(key("no text"), { listedText: null, bookmark: null }),
  usual(key("another bookmark"), { bookmark: "30 April 2024" }),
  usual(key("no hash"), { contentHash: null }),
  usual(key("never seen"), { bookmarkSeenAt: null }),
  usual(key("never read"), { contentReadAt: null }),
  usual(key("seen before 2000"), { bookmarkSeenAt: -1 }),
  usual(key("read before 2000"), { contentReadAt: Date.UTC(1999, 11, 31, 23, 59, 59, 999) }),
  usual(key("seen at a microsecond"), { bookmarkSeenAt: Date.UTC(2026, 10, 22, 1, 2, 3, 456) + 0.789 }),
  usual(key("read in 2000"), { bookmarkSeenAt: Date.UTC(2000, 0, 1), contentReadAt: Date.UTC(2000, 0, 1) + 0.001 }),
  usual(key("seen in 9999"), { bookmarkSeenAt: Date.UTC(9999, 11, 31), contentReadAt: Date.UTC(9999, 11, 31) }),
  usual(key("owing"), { rereadReason: "shrunk", hasAbsences: true }),
  usual(key("failing"), { rereadReason: "failure", failures: 3 }),
  usual(key("doubtful"), { suspectReads: 2 }),
  { key: key("removed"), state: "removed", sync: USUAL, removedAt: Date.UTC(2024, 4, 2) },
  { key: key("stored alone"), state: "live", sync: null },
  { key: key("listed alone"), state: "listed", sync: USUAL },
];

test("what is stored is read back exactly, and an error thrown for a row is raised after the last row", async () => {
  const database = await freshTestDatabase();
  for (const one of LIBRARIES) await insert(database, one);
  const connection = await database.pool.connect();
  onTestFinished(() => connection.release());
  await connection.query("BEGIN");
  const found = new Map<string, StoredLibrary>();
  await streamStoredLibraries(
    connection,
    (one, text) => found.set(keyText(one.key), one) && expect(parseStored(text)).toEqual(one),
  );
  expect(found).toEqual(new Map(LIBRARIES.map((one) => [keyText(one.key), one])));
  await connection.query("COMMIT");
  for (const one of LIBRARIES) expect(await readStoredLibrary(connection, one.key, "tables")).toEqual(one);
  expect(await readStoredLibrary(connection, key("nobody's"), "tables")).toBeNull();

  let taken = 0;
  const take = () => {
    taken++;
    throw new Error(`row ${taken}`);
  };
  await expect(streamStoredLibraries(connection, take)).rejects.toThrow("row 1");
  await expect(streamRows(connection, "SELECT 1 / (3 - n) FROM generate_series(1, 5) n", () => {})).rejects.toThrow(
    "division by zero",
  );
  expect(taken).toBe(1);
  expect((await connection.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
});
