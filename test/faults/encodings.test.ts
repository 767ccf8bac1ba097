import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { fixture } from "../support/fixture.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import { library, scenario } from "../support/organization.ts";

const LISTING = '[{"libraryName":"Fire","uploadUser":"alice","lastModified":"2023-09-11 at 2:56 PM"}]';

test("a byte order mark before the JSON is accepted in each of the three answers (fault 7)", async () => {
  const { simcat, query, service } = await fixture([
    library("alice", "Fire", { description: "\ufeffmarked", scenarios: [scenario(1, { description: "\ufeff" })] }),
    library("alice", "empty"),
  ]);
  service.script([{ times: "always", action: { kind: "bom" } }]);

  expect((await simcat(["sync"])).code).toBe(0);
  expect(
    await query(
      "SELECT l.description AS library, s.description AS scenario FROM simcat.libraries l JOIN simcat.scenarios s USING (owner, library_name)",
    ),
  ).toEqual([{ library: "\ufeffmarked", scenario: "\ufeff" }]);
  expect(await query("SELECT count(*)::int AS libraries FROM simcat.libraries")).toEqual([{ libraries: 2 }]);
});

test("gzip is decoded, also nested and with its name in any case (fault 6)", async () => {
  const encode: Record<string, (bytes: Buffer) => Buffer> = {
    gzip: gzipSync,
    "X-GZip": gzipSync,
    GZIP: gzipSync,
    identity: (bytes) => bytes,
    "": (bytes) => bytes,
    "gzip, gzip": (bytes) => gzipSync(gzipSync(bytes)),
    "identity, gzip": gzipSync,
  };
  const names = Object.keys(encode);
  const long = Array.from({ length: 2_000 }, (_, at) => scenario(at + 1, { description: `${at} é🌲`.repeat(20) }));
  const { simcat, query, service } = await fixture(
    names.map((name) => library("alice", `in ${name}`, { scenarios: long })),
  );
  const body = Buffer.from(JSON.stringify(long));
  service.script([
    ...names.map((name) => ({
      match: { library: `in ${name}`, operation: "scenarios" as const },
      times: "always" as const,
      action: [
        { kind: "wrongBody", base64: (encode[name] ?? gzipSync)(body).toString("base64") },
        { kind: "headers", set: { "content-encoding": name } },
      ] satisfies FaultAction[],
    })),
  ]);

  const { code } = await simcat(["sync"]);

  expect(code).toBe(0);
  expect(
    await query(
      `SELECT count(*)::int AS rows, count(DISTINCT library_name)::int AS libraries,
         bool_and(description = repeat((scenario_id - 1) || ' é🌲', 20)) AS exact FROM simcat.scenarios`,
    ),
  ).toEqual([{ rows: 14_000, libraries: 7, exact: true }]);
});

test("white space around and inside the JSON, and any Content-Type, are accepted (fault 7)", async () => {
  const { simcat, service } = await fixture([library("alice", "Fire", { scenarios: [1] })]);
  service.script([
    {
      match: { operation: "listing" },
      times: "always",
      action: { kind: "wrongBody", text: `\r\n\t ${LISTING.replaceAll(",", " ,\n ")} \n`, contentType: "text/plain" },
    },
    {
      match: { operation: "scenarios" },
      times: "always",
      action: { kind: "wrongBody", text: ' [\n\t{ "scenarioId" : 1 }\n ]\r\n', contentType: null },
    },
    {
      match: { operation: "metadata" },
      times: "always",
      action: { kind: "wrongBody", text: '\n{ "libraryName" : "Fire" }\n', contentType: "text/html" },
    },
  ]);

  expect((await simcat(["sync"])).code).toBe(0);
});
