import type { LibraryContent, SavedLibrary, StoredLibrary } from "../../src/model.ts";
import {
  fencedWrites,
  openClock,
  openLibraryWriter,
  openTextReader,
  readSnapshot,
  readStored,
  saveListing,
  withLease,
} from "../built.ts";
import { contentOf, type ReadLibrary } from "./contents.ts";
import type { Database } from "./database.ts";

const never = new AbortController().signal;

/** Stores libraries from memory as a run does: under a lease, first the listed texts, then the content through the writer. */
export async function store({ pool }: Database, libraries: readonly ReadLibrary[]): Promise<SavedLibrary[]> {
  const clock = await openClock(pool, never);
  const listedAt = clock.now();
  const stored = await readSnapshot(pool, "reading what is stored", readStored, never);
  const storedOf = ({ listed: { key } }: ReadLibrary): StoredLibrary | null =>
    stored.get(`${key.owner}\0${key.name}`) ?? null;
  const texts = openTextReader("UTC");
  const saved: SavedLibrary[] = [];
  await withLease(
    pool,
    clock,
    "bench",
    async (lease) => {
      const changed = libraries.filter((one) => storedOf(one)?.sync?.listedText !== one.listed.lastModified);
      if (changed.length > 0) {
        const news = { restored: [], returned: [], rejects: [], isOver: () => false, seenAt: listedAt };
        const listing = { changed: changed.map((one) => one.listed), ...news };
        await saveListing(fencedWrites(pool, lease), 1, listing, (_, error) => {
          throw error;
        });
      }
      const writer = openLibraryWriter({
        pool,
        lease,
        context: { runId: 1, microseconds: texts.microseconds, bytes: texts.bytes, guard: () => "mark" },
        onSaved: async (_: LibraryContent, one) => {
          saved.push(one);
        },
        onRefused: (_, error) => {
          throw error;
        },
        onUnrecorded: (_, error) => {
          throw error;
        },
      });
      for (const library of libraries) await writer.store(contentOf(library, storedOf(library), listedAt));
      await writer.drain();
    },
    never,
  );
  return saved;
}
