import { gzipSync } from "node:zlib";
import { test } from "vitest";
import type { FaultAction } from "../support/mock/faults.ts";
import { expectKeepsFailing, type Failing } from "./failing-content.ts";

const text = (body: string, contentType?: string | null): FaultAction =>
  contentType === undefined ? { kind: "wrongBody", text: body } : { kind: "wrongBody", text: body, contentType };
const bytes = (body: Buffer): FaultAction => ({ kind: "wrongBody", base64: body.toString("base64") });
const encoded = (encoding: string): FaultAction => ({ kind: "headers", set: { "content-encoding": encoding } });

const on =
  (code: string, asked: number) =>
  (operation: Failing["operation"]) =>
  (name: string, action: FaultAction | FaultAction[]): Failing => ({
    name: `${name} on ${operation}`,
    operation,
    action,
    code,
    asked,
  });

const scenarios = on("invalid_response", 1)("scenarios");
const metadata = on("invalid_response", 1)("metadata");
const cutScenarios = on("truncated", 2)("scenarios");
const cutMetadata = on("truncated", 2)("metadata");

test("a page, an error object or a wrong shape is not read as an empty list (faults 10, 11, 41)", async () => {
  await expectKeepsFailing([
    scenarios("HTML", { kind: "html" }),
    metadata("HTML", { kind: "html" }),
    scenarios("HTML that says it is JSON", text("<html></html>")),
    scenarios("an error object", text('{"message":"error"}')),
    metadata("an error object", text('{"message":"error"}')),
    scenarios("a wrapped list", text('{"scenarios":[{"scenarioId":1}]}')),
    metadata("a wrapped object", text('{"data":{"libraryName":"x"}}')),
    metadata("a list of one", text('[{"libraryName":"x"}]')),
    scenarios("null", text("null")),
    metadata("null", text("null")),
    scenarios("false", text("false")),
    metadata("true", text("true")),
    scenarios("a number", text("5")),
    scenarios("a string", text('"[]"')),
    metadata("a string", text('"metadata"')),
    metadata("an empty object", text("{}")),
    metadata("an empty list", text("[]")),
    scenarios("a list of error objects", text('[{"message":"error"}]')),
    scenarios("a list of numbers", text("[1,2,3]")),
    scenarios("a list of lists", text("[[],[]]")),
    scenarios("placeholders", { kind: "placeholder" }),
    scenarios("a list of placeholders", { kind: "placeholder", inList: true }),
    metadata("placeholders", { kind: "placeholder" }),
    scenarios("plain text", text("service temporarily unavailable", "text/plain")),
    scenarios("nothing", text("")),
    metadata("nothing", text("")),
    scenarios("blanks", text(" \r\n\t ")),
    metadata("no body of no type", text("", null)),
  ]);
});

test("malformed JSON fails its library, wherever the error is (fault 41)", async () => {
  const good = '{"scenarioId":1,"scenarioName":"x"}';
  await expectKeepsFailing([
    scenarios("a comma too many", text(`[${good},]`)),
    scenarios("a comma too few", text(`[${good} ${good}]`)),
    scenarios("a comma in front", text(`[,${good}]`)),
    scenarios("more behind the list", text(`[${good}]]`)),
    scenarios("two lists", text(`[${good}][]`)),
    scenarios("single quotes", text("[{'scenarioId':1}]")),
    scenarios("a bare key", text("[{scenarioId:1}]")),
    scenarios("NaN", text('[{"scenarioId":NaN}]')),
    scenarios("Infinity", text('[{"scenarioId":1,"x":-Infinity}]')),
    scenarios("undefined", text('[{"scenarioId":undefined}]')),
    scenarios("a leading zero", text('[{"scenarioId":01}]')),
    scenarios("a hexadecimal number", text('[{"scenarioId":0x1}]')),
    scenarios("a raw newline in a string", text('[{"scenarioId":1,"scenarioName":"a\nb"}]')),
    scenarios("a raw NUL in a string", text('[{"scenarioId":1,"scenarioName":"a\0b"}]')),
    scenarios("an unknown escape", text('[{"scenarioId":1,"scenarioName":"\\x41"}]')),
    scenarios("half an escape", text('[{"scenarioId":1,"scenarioName":"\\u00"}]')),
    scenarios("a comment", text(`[/* none */${good}]`)),
    scenarios("a wrong bracket", text('[{"scenarioId":1]]')),
    scenarios("items line by line", text(`${good}\n${good}\n`)),
    metadata("a comma too many", text('{"libraryName":"x",}')),
    metadata("more behind the object", text('{"libraryName":"x"}{}')),
    metadata("single quotes", text("{'libraryName':'x'}")),
    metadata("a raw NUL in a string", text('{"libraryName":"x","description":"a\0b"}')),
  ]);
});

test("bytes that are not UTF-8 are rejected, not replaced and stored (fault 41)", async () => {
  const latin = Buffer.from('[{"scenarioId":1,"scenarioName":"Montr\u00e9al"}]', "latin1");
  const utf16 = Buffer.from('\ufeff[{"scenarioId":1}]', "utf16le");
  const surrogate = Buffer.concat([
    Buffer.from('[{"scenarioId":1,"scenarioName":"'),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from('"}]'),
  ]);
  const overlong = Buffer.concat([Buffer.from('{"libraryName":"'), Buffer.from([0xc0, 0x80]), Buffer.from('"}')]);
  await expectKeepsFailing([
    scenarios("a byte of no character", { kind: "invalidUtf8" }),
    metadata("a byte of no character", { kind: "invalidUtf8" }),
    scenarios("Latin-1", bytes(latin)),
    metadata("Latin-1", bytes(Buffer.from('{"description":"Montr\u00e9al"}', "latin1"))),
    scenarios("UTF-16", bytes(utf16)),
    metadata("UTF-16", bytes(Buffer.from('{"libraryName":"x"}', "utf16le"))),
    scenarios("an encoded surrogate", bytes(surrogate)),
    metadata("an overlong NUL", bytes(overlong)),
    scenarios("half a byte order mark", bytes(Buffer.concat([Buffer.from([0xef, 0xbb]), Buffer.from("[]")]))),
  ]);
});

test("an unknown content encoding, or one that does not match the body, is an error (fault 6)", async () => {
  const list = Buffer.from('[{"scenarioId":1,"scenarioName":"x"}]');
  const gzipped = gzipSync(list);
  const object = gzipSync(Buffer.from('{"libraryName":"x","description":"from gzip"}'));
  const flipped = Buffer.from(gzipped);
  flipped[gzipped.length - 6] = 255 - (gzipped[gzipped.length - 6] ?? 0);
  await expectKeepsFailing([
    scenarios("plain bytes called gzip", { kind: "badGzip" }),
    metadata("plain bytes called gzip", { kind: "badGzip" }),
    scenarios("plain bytes called br", encoded("br")),
    metadata("plain bytes called deflate", encoded("deflate")),
    scenarios("an unknown encoding", { kind: "unknownEncoding" }),
    metadata("an unknown encoding", { kind: "unknownEncoding" }),
    scenarios("zstd", { kind: "unknownEncoding", encoding: "zstd" }),
    scenarios("compress", { kind: "unknownEncoding", encoding: "compress" }),
    scenarios("gzip called zstd inside", [bytes(gzipped), encoded("gzip, zstd")]),
    scenarios("gzip once called twice", [bytes(gzipped), encoded("gzip, gzip")]),
    scenarios("gzip called nothing", bytes(gzipped)),
    metadata("gzip called nothing", bytes(object)),
    scenarios("gzip with a wrong checksum", [bytes(flipped), encoded("gzip")]),
    scenarios("four encodings", [bytes(gzipped), encoded("gzip, gzip, gzip, gzip")]),
    cutScenarios("gzip without its end", [bytes(gzipped.subarray(0, -10)), encoded("gzip")]),
    cutMetadata("gzip without its end", [bytes(object.subarray(0, -10)), encoded("gzip")]),
    scenarios("gzip with garbage behind it", [bytes(Buffer.concat([gzipped, list])), encoded("gzip")]),
  ]);
});
