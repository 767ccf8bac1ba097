import { createHash, type Hash } from "node:crypto";
import type { DriftField, LibraryKey, Metadata, Reject } from "../model.ts";
import type { GuardedSink } from "./guard-sink.ts";
import type { Answer } from "./http/transport.ts";
import { splitArray } from "./wire/json-array.ts";
import { readMetadata } from "./wire/wire-metadata.ts";
import { readScenarios } from "./wire/wire-scenarios.ts";

export interface MetadataAnswer {
  readonly answer: Answer;
  readonly metadata: Metadata | null;
  readonly rejects: readonly Reject[];
  readonly bytes: Buffer;
}

/** The answer of specification 4.2. */
export async function readMetadataAnswer(answer: Answer, key: LibraryKey): Promise<MetadataAnswer> {
  const batches: Buffer[] = [];
  for (let batch = await answer.read(); batch !== null; batch = await answer.read()) batches.push(batch);
  const bytes = batches.length === 1 && batches[0] !== undefined ? batches[0] : Buffer.concat(batches);
  return { answer, bytes, ...readMetadata(key, bytes) };
}

export interface ScenariosAnswer {
  readonly answer: Answer;
  readonly rejects: readonly Reject[];
  readonly items: number;
  readonly present: Readonly<Record<DriftField, number>>;
  /** SHA-256 of the decoded bytes, open for more. */
  readonly hash: Hash;
}

/** The answer of specification 4.3, handed to the sink while it comes. */
export async function readScenariosAnswer(
  answer: Answer,
  key: LibraryKey,
  sink: GuardedSink,
): Promise<ScenariosAnswer> {
  await sink.begin();
  const hash = createHash("sha256");
  const splitter = splitArray();
  const reader = readScenarios(key, sink);
  for (let bytes = await answer.read(); bytes !== null; bytes = await answer.read()) {
    hash.update(bytes);
    await reader.add(splitter.push(bytes), splitter.plain());
  }
  splitter.end();
  return { answer, hash, ...reader.finish() };
}
