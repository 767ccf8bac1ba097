import { gzipSync } from "node:zlib";
import type { Operation } from "./route.ts";

export const HTML =
  "<!doctype html><html><head><title>Sign in</title></head><body><h1>Scheduled maintenance</h1></body></html>";

const WORDS = {
  listing: { libraryName: "string", uploadUser: "string", lastModified: "string" },
  metadata: {
    libraryName: "string",
    libraryOwner: "string",
    lastModified: "string",
    fileSize: "string",
    packageName: "string",
    packageVersion: "string",
    description: "string",
  },
  scenarios: {
    scenarioId: "integer",
    parentId: "integer",
    scenarioName: "string",
    isResult: "boolean",
    lastModified: "string",
    description: "string",
  },
} as const satisfies Record<Operation, unknown>;

/** The names of the types where the values belong. */
export const placeholderText = (operation: Operation): string => JSON.stringify(WORDS[operation]);

const BLOCK = 1 << 20;
const GZIPPED_BLANKS = gzipSync(Buffer.alloc(BLOCK, " "), { level: 9 });

/** An array of nothing but blanks, `bytes` long once it is decoded. Gzip members may follow one another. */
export function createGzipBomb(bytes: number): Buffer {
  const blanks = Math.max(0, bytes - 2);
  const blocks = Array.from({ length: Math.floor(blanks / BLOCK) }, () => GZIPPED_BLANKS);
  return Buffer.concat([gzipSync("["), ...blocks, gzipSync(`${" ".repeat(blanks % BLOCK)}]`)]);
}

/** Puts 0xFF into the first string value; in front of everything where there is none. */
export function breakUtf8(body: Buffer): Buffer {
  const at = body.indexOf('":"');
  const cut = at === -1 ? 0 : at + 3;
  return Buffer.concat([body.subarray(0, cut), Buffer.from([0xff]), body.subarray(cut)]);
}
