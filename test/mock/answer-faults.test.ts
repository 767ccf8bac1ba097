import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { FaultAction } from "../support/mock/faults.ts";
import { library, scenario } from "../support/organization.ts";
import { ask, type RawAnswer } from "./raw-client.ts";
import { serve } from "./service.ts";

const libraries = [library("alice", "A", { scenarios: [1, scenario(2, { parentId: 1 }), 3] }), library("bob", "B")];
const LIST = "/libs";
const METADATA = "/libs/user/alice/A/metadata";
const SCENARIOS = "/libs/user/alice/A/scenarios";
const JSON_TYPE = "application/json; charset=utf-8";

async function answer(action: FaultAction | readonly FaultAction[], path: string): Promise<RawAnswer> {
  const { url } = await serve(libraries, { faults: [{ action }] });
  return ask(url, path);
}

test.each<[FaultAction, object]>([
  [
    { kind: "status", status: 429, body: "slow" },
    { status: 429, text: "slow" },
  ],
  [
    { kind: "status", status: 503 },
    { status: 503, text: '{"message":"Answered 503"}' },
  ],
  [
    { kind: "status", status: 206, headers: { "retry-after": "2" }, keepBody: true },
    { status: 206, headers: { "retry-after": "2" }, text: expect.stringMatching(/^\[\{"libraryName":"A",/) },
  ],
  [
    { kind: "wrongBody", text: "a,b", contentType: "text/csv" },
    { text: "a,b", headers: { "content-type": "text/csv" } },
  ],
  [
    { kind: "wrongBody", base64: "W10=" },
    { text: "[]", headers: { "content-type": JSON_TYPE } },
  ],
  [{ kind: "emptyList" }, { status: 200, text: "[]", headers: { "content-type": JSON_TYPE } }],
  [
    { kind: "html" },
    { headers: { "content-type": "text/html; charset=utf-8" }, text: expect.stringMatching(/^<!doctype html>/) },
  ],
  [{ kind: "badGzip" }, { headers: { "content-encoding": "gzip" }, text: expect.stringMatching(/^\[\{"libraryName"/) }],
  [{ kind: "unknownEncoding" }, { headers: { "content-encoding": "x-unheard-of" } }],
  [
    { kind: "redirect", location: "http://elsewhere/libs" },
    { status: 302, headers: { location: "http://elsewhere/libs" } },
  ],
  [
    { kind: "headers", set: { Age: "30", Link: ["<a>", "<b>"], Date: "Wed, 20 Mar 2024 16:27:05 GMT" } },
    { headers: { age: "30", link: "<a>, <b>", date: "Wed, 20 Mar 2024 16:27:05 GMT" } },
  ],
  [{ kind: "bom" }, { text: expect.stringMatching(/^\ufeff\[\{"libraryName"/) }],
  [{ kind: "invalidUtf8" }, { text: expect.stringMatching(/^\[\{"libraryName":"\ufffdA",/) }],
  [
    { kind: "alterItem", index: 3, set: {} },
    { status: 500, text: expect.stringContaining("has no item 3") },
  ],
])("%j answers the listing in this way", async (action, expected) => {
  expect(await answer(action, LIST)).toMatchObject(expected);
});

test.each<[FaultAction, string]>([
  [{ kind: "wrongBody", text: "[]", contentType: null }, "content-type"],
  [{ kind: "redirect", location: null }, "location"],
  [{ kind: "headers", set: { Date: null } }, "date"],
])("%j leaves out the header %s", async (action, name) => {
  expect((await answer(action, LIST)).headers[name]).toBeUndefined();
});

test("gzipBomb is small on the wire and decodes to an empty list of exactly the requested size", async () => {
  const { headers, body } = await answer({ kind: "gzipBomb", bytes: 5_000_000 }, LIST);
  expect(headers["content-encoding"]).toBe("gzip");
  expect(body.length).toBeLessThan(10_000);
  const decoded = gunzipSync(body);
  expect([decoded.length, JSON.parse(decoded.toString())]).toEqual([5_000_000, []]);
});

test.each<[FaultAction, unknown[]]>([
  [{ kind: "dropItems" }, []],
  [{ kind: "dropItems", from: 1, count: 1 }, [1, 3]],
  [{ kind: "dropItems", from: -1 }, [1, 2]],
  [{ kind: "duplicateItem", index: 0 }, [1, 2, 3, 1]],
  [{ kind: "duplicateItem", index: 0, set: { scenarioId: 7 } }, [1, 2, 3, 7]],
  [{ kind: "alterItem", index: -1, set: { scenarioId: "abc" } }, [1, 2, "abc"]],
  [{ kind: "alterItem", index: "all", set: { scenarioId: null } }, [null, null, null]],
  [{ kind: "alterItem", index: 0, source: '{"scenarioId":9}' }, [9, 2, 3]],
])("%j leaves these items", async (action, ids) => {
  const items: { scenarioId: unknown }[] = JSON.parse((await answer(action, SCENARIOS)).text);
  expect(items.map(({ scenarioId }) => scenarioId)).toEqual(ids);
});

test("alterItem sets, adds and removes fields, also as source text that no serializer would write", async () => {
  const setSource = { fileSize: "9223372036854775808", extra: '"a\\u0000b"' };
  const remove = ["libraryOwner", "lastModified", "packageName", "packageVersion"];
  const { text } = await answer({ kind: "alterItem", index: 0, set: { libraryName: 7 }, setSource, remove }, METADATA);
  expect(text).toBe('{"libraryName":7,"fileSize":9223372036854775808,"description":null,"extra":"a\\u0000b"}');
});

test("placeholder answers with the words of a documentation, and several actions are done in turn", async () => {
  const words = '{"libraryName":"string","uploadUser":"string","lastModified":"string"}';
  expect((await answer({ kind: "placeholder" }, LIST)).text).toBe(words);
  const inTurn = [{ kind: "placeholder", inList: true }, { kind: "bom" }, { kind: "delay", ms: 1 }] as const;
  expect((await answer(inTurn, LIST)).text).toBe(`\ufeff[${words}]`);
});
