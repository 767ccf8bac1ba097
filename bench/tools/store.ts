import type { SavedLibrary, StoredLibrary } from "../../src/model.ts";
import {
  acquireLease,
  createClock,
  createListingSaver,
  createValueParsers,
  readSnapshot,
  saveOutcomes,
  streamStoredLibraries,
} from "../built.ts";
import { outcomeOf, type ReadLibrary } from "./contents.ts";
import type { Database } from "./database.ts";

const never = new AbortController().signal;

/** Stores libraries from memory as a run does: under a lease, first the listed texts, then the content through the saver. */
export async function store({ pool }: Database, libraries: readonly ReadLibrary[]): Promise<SavedLibrary[]> {
  const clock = await createClock(pool, never);
  const listedAt = clock.now();
  const stored = new Map<string, StoredLibrary>();
  const keep = (library: StoredLibrary) => stored.set(`${library.key.owner}\0${library.key.name}`, library);
  await readSnapshot(pool, "reading what is stored", (connection) => streamStoredLibraries(connection, keep), never);
  const storedOf = ({ listed: { key } }: ReadLibrary): StoredLibrary | null =>
    stored.get(`${key.owner}\0${key.name}`) ?? null;
  const parsers = createValueParsers("UTC");
  const saved: SavedLibrary[] = [];
  const request = { name: "sync", holder: "bench" };
  const { lease } = await acquireLease(pool, clock, request, async () => null, never);
  try {
    const changed = libraries.filter((one) => storedOf(one)?.sync?.listedText !== one.listed.lastModified);
    const news = { restored: [], holdsEnded: [], rejects: [], isOver: null, seenAt: listedAt };
    const saver = createListingSaver(lease, 1, (text) => text);
    await saver.saveListing({ newDates: changed.map((one) => one.listed), ...news });
    if (saver.failed().length > 0) throw new Error("the database refused a library of the listing");
    const outcomes = (async function* () {
      for (const library of libraries) yield outcomeOf(library, storedOf(library), listedAt);
    })();
    const context = { runId: 1, parsers: parsers, guard: () => "mark" as const };
    const tools = { lease, context, mask: (text: string) => text };
    for await (const outcome of saveOutcomes(outcomes, tools, new AbortController())) {
      if (outcome.kind !== "saved") throw new Error("the database refused a library");
      saved.push(outcome.saved);
    }
  } finally {
    await lease.release();
  }
  return saved;
}
