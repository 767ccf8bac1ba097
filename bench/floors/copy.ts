import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { from } from "pg-copy-streams";
import type { Scenario } from "../../src/model.ts";
import { createValueParsers } from "../built.ts";
import type { ReadLibrary } from "../tools/contents.ts";
import type { Database } from "../tools/database.ts";

const CHUNK_CHARS = 64 * 1024;
const NOW = new Date().toISOString();

/**
 * The floor for writing: `COPY` of the same rows into the same two tables, with their keys and their foreign key, on one
 * connection and in one transaction. It has no fence, no bookmarks and no comparison. Formatting the rows is included.
 */
export async function copyRows({ pool }: Database, libraries: readonly ReadLibrary[]): Promise<void> {
  const connection = await pool.connect();
  try {
    await connection.query("BEGIN");
    const copy = async (table: string, lines: Iterable<string>) => {
      const sink = connection.query(from(`COPY simcat.${table} FROM STDIN`));
      await pipeline(Readable.from(inChunks(lines)), sink);
    };
    await copy("libraries", libraryLines(libraries));
    await copy("scenarios", scenarioLines(libraries));
    await connection.query("COMMIT");
  } finally {
    connection.release();
  }
}

function* inChunks(lines: Iterable<string>): Generator<Buffer> {
  let text = "";
  for (const line of lines) {
    text += line;
    if (text.length < CHUNK_CHARS) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}

const { microseconds, bytes } = createValueParsers("UTC");

function* libraryLines(libraries: readonly ReadLibrary[]): Generator<string> {
  for (const { listed, received } of libraries) {
    const { metadata } = received;
    yield toLine([
      listed.key.owner,
      listed.key.name,
      metadata?.libraryOwner,
      listed.lastModified,
      instant(listed.lastModified),
      metadata?.fileSize,
      bytes(metadata?.fileSize ?? null),
      metadata?.packageName,
      metadata?.packageVersion,
      metadata?.description,
      listed.source,
      metadata?.source,
      NOW,
      NOW,
      null,
      1,
    ]);
  }
}

function* scenarioLines(libraries: readonly ReadLibrary[]): Generator<string> {
  for (const { listed, scenarios } of libraries) {
    const key = `${escapeText(listed.key.owner)}\t${escapeText(listed.key.name)}\t`;
    for (const scenario of scenarios) yield key + toLine(scenarioFields(scenario));
  }
}

function scenarioFields(scenario: Scenario) {
  const { id, parentId, name, isResult, lastModified, description, source } = scenario;
  return [id, parentId, name, isResult, lastModified, instant(lastModified), description, source, NOW, NOW, null, 1];
}

function instant(text: string | null): string | null {
  const at = microseconds(text);
  return at === null ? null : new Date(Number(at / 1000n)).toISOString();
}

type Field = string | number | bigint | boolean | null | undefined;

function toLine(fields: readonly Field[]): string {
  let line = "";
  for (const field of fields) {
    if (line !== "") line += "\t";
    line +=
      field === null || field === undefined ? "\\N" : typeof field === "string" ? escapeText(field) : String(field);
  }
  return `${line}\n`;
}

const SPECIAL = /[\\\n\r\t]/;
const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

function escapeText(text: string): string {
  return SPECIAL.test(text) ? text.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? character) : text;
}
