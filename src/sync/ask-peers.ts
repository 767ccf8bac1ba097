import type { Connection } from "../db/connect.ts";
import { findPeers } from "../db/read/compare-fields.ts";
import { withTransaction } from "../db/transaction.ts";
import { ContentError } from "../errors.ts";
import { keyText } from "../key.ts";
import type { LibraryKey, ListedLibraries } from "../model.ts";
import { DISCARD } from "../service/read-content.ts";
import type { LostField, Testimony } from "./rules/drift.ts";
import { hasOtherName } from "./rules/named-library.ts";
import type { Run } from "./run-types.ts";

/** One is enough, unless it was edited meanwhile or cannot be read. */
const MAX_PEERS = 3;
/** More than are asked: some may not be listed any more. */
const FIRST_FOUND = 20;

/**
 * Asks whether the service still sends a field that the library `key` lost: reads other listed libraries that had it, until one
 * has it. `sentAt`: when the first request for the library itself was sent, on the local monotonic clock.
 */
export type AskPeers = (lost: LostField, key: LibraryKey, sentAt: number, signal: AbortSignal) => Promise<Testimony>;

interface PeerAnswer {
  readonly testimony: Testimony;
  /** The libraries that were asked, as texts of their keys. */
  readonly of: readonly string[];
}

/** All readers of a run share the answers, as far as they are answers of other libraries. */
export function createPeers({ pool, lease, service }: Run, libraries: ListedLibraries): AskPeers {
  const asked = new Map<string, { readonly at: number; readonly answer: Promise<PeerAnswer> }>();

  /** An incomplete or a cached listing may lack most of the libraries that are found first. */
  async function findOthers(lost: LostField, key: LibraryKey): Promise<LibraryKey[]> {
    const options = { operation: "choosing other libraries to compare with", snapshot: true };
    for (let limit = FIRST_FOUND; ; limit *= 100) {
      const find = (connection: Connection) => findPeers(connection, lost, limit);
      const stored = await withTransaction(pool, options, find, lease.lost);
      const others = stored.filter((one) => keyText(one) !== keyText(key) && libraries.has(one));
      if (others.length >= MAX_PEERS || stored.length < limit) return others.slice(0, MAX_PEERS);
    }
  }

  async function ask(lost: LostField, key: LibraryKey, signal: AbortSignal): Promise<PeerAnswer> {
    const others = await findOthers(lost, key);
    const of = others.map(keyText);
    let testimony: Testimony = others.length === 0 ? "none" : "unclear";
    for (const other of others) {
      const heard = await hear(lost, other, signal);
      if (heard === "has") return { testimony: "has", of };
      if (heard === "lacks") testimony = "lacks";
    }
    return { testimony, of };
  }

  async function hear(lost: LostField, key: LibraryKey, signal: AbortSignal): Promise<"has" | "lacks" | "unclear"> {
    try {
      const { metadata, present, cached } = await service.readContent(key, DISCARD, signal);
      if (cached || metadata === null || hasOtherName(metadata, key)) return "unclear";
      const has = lost.of === "metadata" ? !metadata.absent.includes(lost.field) : present[lost.field] > 0;
      return has ? "has" : "lacks";
    } catch (error) {
      if (error instanceof ContentError) return "unclear";
      throw error;
    }
  }

  return async (lost, key, sentAt, signal) => {
    const name = `${lost.of} ${lost.field}`;
    for (;;) {
      const last = asked.get(name);
      if (last !== undefined) {
        const { testimony, of } = await last.answer;
        // The service may drop the field during the run, so an answer that has it is good only for libraries requested before.
        const isGood = testimony === "has" ? last.at >= sentAt : of.some((other) => other !== keyText(key));
        if (isGood) return testimony;
      }
      if (asked.get(name) !== last) continue;
      const own = { at: performance.now(), answer: ask(lost, key, signal) };
      asked.set(name, own);
      return (await own.answer).testimony;
    }
  };
}
