import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { AnswerAction, FaultAction } from "../support/mock/faults.ts";
import { library, scenario } from "../support/organization.ts";
import { ask, type RawAnswer } from "./raw-client.ts";
import { serve } from "./service.ts";

const libraries = [library("alice", "A", { scenarios: [1, scenario(2, { parentId: 1 }), 3] }), library("bob", "B")];
const LIST = "/libs";
const METADATA = "/libs/user/alice/A/metadata";
const SCENARIOS = "/libs/user/alice/A/scenarios";

async function answer(action: FaultAction | readonly FaultAction[], path: string): Promise<RawAnswer> {
  const { url } = await serve(libraries, { faults: [{ action }] });
  return ask(url, path);
}

const idsOf = ({ text }: RawAnswer): unknown[] =>
  JSON.parse(text).map((item: { scenarioId: unknown }) => item.scenarioId);

test.each<[AnswerAction, number, string]>([
  [{ kind: "status", status: 429, body: "slow" }, 429, "slow"],
  [{ kind: "status", status: 503 }, 503, '{"message":"Answered 503"}'],
  [{ kind: "status", status: 204, body: "" }, 204, ""],
])("%j answers this status and body", async (action, status, text) => {
  const answered = await answer(action, LIST);
  expect([answered.status, answered.text]).toEqual([status, text]);
});

test("status can add headers and keep the normal body", async () => {
  const headers = { "retry-after": "2" };
  const partial = await answer({ kind: "status", status: 206, headers, keepBody: true }, SCENARIOS);
  expect([partial.status, partial.headers["retry-after"], idsOf(partial)]).toEqual([206, "2", [1, 2, 3]]);
});

test.each<[AnswerAction, string, string]>([
  [{ kind: "wrongBody", text: '{"message":"error"}' }, '{"message":"error"}', "application/json; charset=utf-8"],
  [{ kind: "wrongBody", text: "a,b", contentType: "text/csv" }, "a,b", "text/csv"],
  [{ kind: "wrongBody", base64: "W10=" }, "[]", "application/json; charset=utf-8"],
  [{ kind: "wrongBody" }, "", "application/json; charset=utf-8"],
  [{ kind: "emptyList" }, "[]", "application/json; charset=utf-8"],
])("%j answers 200 and another body", async (action, text, type) => {
  const got = await answer(action, LIST);
  expect([got.status, got.text, got.headers["content-type"]]).toEqual([200, text, type]);
});

test("wrongBody can leave the content type out", async () => {
  expect(
    (await answer({ kind: "wrongBody", text: "[]", contentType: null }, LIST)).headers["content-type"],
  ).toBeUndefined();
});

test("html answers a page", async () => {
  const { status, headers, text } = await answer({ kind: "html" }, LIST);
  expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  expect(text).toMatch(/^<!doctype html>/);
});

test("badGzip claims gzip and sends plain bytes", async () => {
  const { headers, text } = await answer({ kind: "badGzip" }, SCENARIOS);
  expect(headers["content-encoding"]).toBe("gzip");
  expect(text).toMatch(/^\[\{"scenarioId":1,/);
});

test("unknownEncoding names an unknown content encoding", async () => {
  expect((await answer({ kind: "unknownEncoding" }, LIST)).headers["content-encoding"]).toBe("x-unheard-of");
  expect((await answer({ kind: "unknownEncoding", encoding: "zstd" }, LIST)).headers["content-encoding"]).toBe("zstd");
});

test("gzipBomb is small on the wire and decodes to an empty list of exactly the requested size", async () => {
  const { headers, body } = await answer({ kind: "gzipBomb", bytes: 5_000_000 }, LIST);
  expect(headers["content-encoding"]).toBe("gzip");
  expect(body.length).toBeLessThan(10_000);
  const decoded = gunzipSync(body);
  expect([decoded.length, JSON.parse(decoded.toString())]).toEqual([5_000_000, []]);
});

test("redirect names a place, or none", async () => {
  const there = await answer({ kind: "redirect", status: 301, location: "http://elsewhere.example/libs" }, LIST);
  expect([there.status, there.headers.location]).toEqual([301, "http://elsewhere.example/libs"]);
  const nowhere = await answer({ kind: "redirect", location: null }, LIST);
  expect([nowhere.status, nowhere.headers.location]).toEqual([302, undefined]);
});

test("headers adds, repeats, replaces and removes headers of the normal answer", async () => {
  const { headers, text } = await answer(
    { kind: "headers", set: { Age: "30", Link: ["<a>", "<b>"], "Content-Type": "text/plain", Date: null } },
    LIST,
  );
  expect(headers).toMatchObject({ age: "30", link: "<a>, <b>", "content-type": "text/plain" });
  expect(headers.date).toBeUndefined();
  expect(JSON.parse(text)).toHaveLength(2);
  const dated = await answer({ kind: "headers", set: { date: "Wed, 20 Mar 2024 16:27:05 GMT" } }, LIST);
  expect(dated.headers.date).toBe("Wed, 20 Mar 2024 16:27:05 GMT");
});

test("hugeHeaders goes over a client's limit", async () => {
  const { url } = await serve(libraries, { faults: [{ times: "always", action: { kind: "hugeHeaders" } }] });
  await expect(ask(url, LIST, { maxHeaderSize: 65_536 })).rejects.toMatchObject({ code: "HPE_HEADER_OVERFLOW" });
  expect(Object.keys((await ask(url, LIST)).headers).filter((name) => name.startsWith("x-padding"))).toHaveLength(128);
});

test("bom puts a byte order mark before the JSON", async () => {
  const { body } = await answer({ kind: "bom" }, LIST);
  expect(body.subarray(0, 4)).toEqual(Buffer.from([0xef, 0xbb, 0xbf, 0x5b]));
});

test("invalidUtf8 spoils the first string value and nothing else", async () => {
  const { body } = await answer({ kind: "invalidUtf8" }, LIST);
  expect(() => new TextDecoder("utf-8", { fatal: true }).decode(body)).toThrow();
  expect(body.toString("latin1")).toMatch(/^\[\{"libraryName":"ÿA",/);
});

test.each([
  [LIST, '{"libraryName":"string","uploadUser":"string","lastModified":"string"}'],
  [
    SCENARIOS,
    '{"scenarioId":"integer","parentId":"integer","scenarioName":"string","isResult":"boolean",' +
      '"lastModified":"string","description":"string"}',
  ],
  [
    METADATA,
    '{"libraryName":"string","libraryOwner":"string","lastModified":"string","fileSize":"string",' +
      '"packageName":"string","packageVersion":"string","description":"string"}',
  ],
])("placeholder answers %s with the words of a documentation", async (path, text) => {
  expect((await answer({ kind: "placeholder" }, path)).text).toBe(text);
  expect((await answer({ kind: "placeholder", inList: true }, path)).text).toBe(`[${text}]`);
});

test.each<[AnswerAction, number[]]>([
  [{ kind: "dropItems" }, []],
  [{ kind: "dropItems", from: 1 }, [1]],
  [{ kind: "dropItems", from: 1, count: 1 }, [1, 3]],
  [{ kind: "dropItems", from: -1 }, [1, 2]],
  [{ kind: "duplicateItem", index: 0 }, [1, 2, 3, 1]],
])("%j leaves these items", async (action, ids) => {
  expect(idsOf(await answer(action, SCENARIOS))).toEqual(ids);
});

test("alterItem sets, removes and adds fields of one item", async () => {
  const change = { kind: "alterItem", index: -1, set: { scenarioId: "abc" }, remove: ["parentId"] } as const;
  const { text } = await answer(change, SCENARIOS);
  expect(text).toContain(
    '{"scenarioId":"abc","scenarioName":"Scenario 3","isResult":false,"lastModified":"2023-09-11 at 2:56 PM","description":null}]',
  );
  expect(idsOf(await answer(change, SCENARIOS))).toEqual([1, 2, "abc"]);
});

test("alterItem writes source text that no serializer would", async () => {
  const setSource = { scenarioId: "9223372036854775808", description: '"a\\u0000b"' };
  const { text } = await answer({ kind: "alterItem", index: 0, setSource }, SCENARIOS);
  expect(text).toMatch(/^\[\{"scenarioId":9223372036854775808,.*"description":"a\\u0000b"\},\{"scenarioId":2,/);
  const twice = await answer({ kind: "alterItem", index: 0, source: '{"scenarioId":1,"scenarioId":2}' }, SCENARIOS);
  expect(twice.text).toMatch(/^\[\{"scenarioId":1,"scenarioId":2\},\{"scenarioId":2,/);
});

test("alterItem changes all items, and the metadata object", async () => {
  const all = await answer({ kind: "alterItem", index: "all", set: { uploadUser: null } }, LIST);
  expect(JSON.parse(all.text).map((item: { uploadUser: unknown }) => item.uploadUser)).toEqual([null, null]);
  const metadata = await answer({ kind: "alterItem", index: 0, set: { fileSize: 7 } }, METADATA);
  expect(JSON.parse(metadata.text)).toMatchObject({ libraryName: "A", fileSize: 7 });
});

test("alterItem of an item that is not there answers 500, so that no test passes for nothing", async () => {
  const { status, text } = await answer({ kind: "alterItem", index: 3, set: {} }, SCENARIOS);
  expect([status, text]).toEqual([
    500,
    '{"message":"the mock could not do \\"alterItem\\": Error: the answer has no item 3"}',
  ]);
});

test("duplicateItem can change the repeated item", async () => {
  const changed = await answer({ kind: "duplicateItem", index: 0, set: { scenarioName: "other" } }, SCENARIOS);
  expect(JSON.parse(changed.text)[3]).toMatchObject({ scenarioId: 1, scenarioName: "other" });
});

test("several actions are done in turn", async () => {
  const { status, headers, text } = await answer(
    [{ kind: "dropItems", from: 1 }, { kind: "bom" }, { kind: "headers", set: { age: "9" } }, { kind: "delay", ms: 1 }],
    SCENARIOS,
  );
  expect([status, headers.age, text.charCodeAt(0)]).toEqual([200, "9", 0xfeff]);
  expect(JSON.parse(text.slice(1))).toHaveLength(1);
});
