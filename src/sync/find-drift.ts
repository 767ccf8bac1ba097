import type { Connection } from "../db/connect.ts";
import { compareFields, findPeers } from "../db/read/compare-fields.ts";
import { detectRefusedRows } from "../db/store/refused-rows.ts";
import { readSnapshot, withTransaction } from "../db/transaction.ts";
import { ContentError } from "../errors.ts";
import { keyText } from "../key.ts";
import type { LibraryContent, LibraryKey, ListedLibraries, ReceivedContent } from "../model.ts";
import { DISCARD } from "../service/client.ts";
import { explainDrift, findLostFields, isProven, type LostField, lackedFields, type Testimony } from "./rules/drift.ts";
import { hasOtherName } from "./rules/library-content.ts";
import type { Run } from "./run-types.ts";

/** One is enough, unless it was edited meanwhile or cannot be read. */
const MAX_PEERS = 3;
/** More than MAX_PEERS, because some may not be listed any more. */
const FIRST_FOUND = 20;

/** Finds out whether the service has changed the shape of its answers. */
export function createDriftFinder({ pool, lease, service }: Run, libraries: ListedLibraries) {
  /** The answers by field. All readers of a run share them, unless the only library that was asked is the reader's own. */
  const asked = new Map<string, ReturnType<typeof ask>>();

  /** Finds out whether the service still sends a field that the library `key` lost: reads others that had it, until one has it. */
  async function askPeers(lost: LostField, key: LibraryKey, signal: AbortSignal): Promise<Testimony> {
    const name = `${lost.of} ${lost.field}`;
    const earlier = asked.get(name);
    if (earlier !== undefined) {
      const { testimony, of } = await earlier;
      // The service may drop the field during the run, so an answer that has it proves nothing about later reads.
      if (testimony !== "has" && of.some((other) => other !== keyText(key))) return testimony;
    }
    const answer = ask(lost, key, signal);
    asked.set(name, answer);
    return (await answer).testimony;
  }

  /** `of`: the libraries that were asked, as texts of their keys. */
  async function ask(lost: LostField, key: LibraryKey, signal: AbortSignal) {
    const peers = await findListed(lost, key);
    const of = peers.map(keyText);
    let testimony: Testimony = peers.length === 0 ? "none" : "unclear";
    for (const peer of peers) {
      const heard = await hear(lost, peer, signal);
      if (heard !== "unclear") testimony = heard;
      if (heard === "has") break;
    }
    return { testimony, of };
  }

  /** An incomplete or a cached listing may lack most of the libraries that are found first. */
  async function findListed(lost: LostField, key: LibraryKey): Promise<LibraryKey[]> {
    for (let limit = FIRST_FOUND; ; limit *= 100) {
      const find = (connection: Connection) => findPeers(connection, lost, limit);
      const found = await readSnapshot(pool, "choosing other libraries to compare with", find, lease.lost);
      const peers = found.filter((one) => keyText(one) !== keyText(key) && libraries.has(one));
      if (peers.length >= MAX_PEERS || found.length < limit) return peers.slice(0, MAX_PEERS);
    }
  }

  async function hear(lost: LostField, peer: LibraryKey, signal: AbortSignal): Promise<"has" | "lacks" | "unclear"> {
    try {
      const { metadata, items, present, cachedMs } = await service.readContent(peer, DISCARD, signal);
      if (cachedMs > 0 || metadata === null || hasOtherName(metadata, peer)) return "unclear";
      // An empty list lacks nothing.
      if (lost.of === "scenarios" && items === 0) return "unclear";
      const has = lost.of === "metadata" ? !metadata.absent.includes(lost.field) : present[lost.field] > 0;
      return has ? "has" : "lacks";
    } catch (error) {
      if (error instanceof ContentError) return "unclear";
      throw error;
    }
  }

  /** Why content that lacks fields fails as drift; null if no stored value would be lost, or if the loss is an edit. */
  return async (content: LibraryContent, received: ReceivedContent, signal: AbortSignal): Promise<string | null> => {
    const operation = "comparing the fields of a library with its stored rows";
    const find = (connection: Connection) => compareFields(connection, content, lackedFields(received));
    const compared = await detectRefusedRows(lease, operation, (patience) =>
      withTransaction(pool, { operation, snapshot: true, byKey: true, ...patience }, find, lease.lost),
    );
    const reasons: string[] = [];
    for (const lost of findLostFields(received, compared)) {
      const testimony = isProven(lost) ? "none" : await askPeers(lost, content.listed.key, signal);
      const reason = explainDrift(lost, testimony);
      if (reason !== null) reasons.push(reason);
    }
    return reasons.length === 0 ? null : reasons.join("; ");
  };
}
