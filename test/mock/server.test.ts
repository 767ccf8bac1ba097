import { expect, test } from "vitest";
import { serve } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { ask } from "./raw-client.ts";

const libA = library("alice", "Lib A", { scenarios: [1, scenario(2, { parentId: 1, description: "dry" })] });

test("answers metadata and scenarios with the fields of the specification", async () => {
  const { url } = await serve([libA]);
  expect((await ask(url, "/libs/user/alice/Lib%20A/metadata")).text).toBe(
    '{"libraryName":"Lib A","libraryOwner":"alice","lastModified":"2023-09-11 at 2:56 PM","fileSize":"240 KB",' +
      '"packageName":"landscape","packageVersion":"4.3.6","description":null}',
  );
  expect((await ask(url, "/libs/user/alice/Lib%20A/scenarios")).text).toBe(
    '[{"scenarioId":1,"parentId":null,"scenarioName":"Scenario 1","isResult":false,' +
      '"lastModified":"2023-09-11 at 2:56 PM","description":null},' +
      '{"scenarioId":2,"parentId":1,"scenarioName":"Result 2","isResult":true,' +
      '"lastModified":"2023-09-11 at 2:56 PM","description":"dry"}]',
  );
});

test.each([
  ["/libs/user/bob/Lib%20A/metadata", 404],
  ["/v1/libs", 404],
  ["/libs/user/alice/Lib%20A/maps", 404],
  ["/libs/user/alice/%zz/metadata", 400],
  ["/libs/user/alice/%ff/metadata", 400],
  ['/libs/user/alice/"x"/metadata', 400],
  ["/libs/user/../Lib%20A/metadata", 400],
])("answers %s with %i and a JSON message", async (path, expected) => {
  const { url } = await serve([libA]);
  const { status, text } = await ask(url, path);
  expect([status, typeof JSON.parse(text).message]).toEqual([expected, "string"]);
});

test("refuses all but GET and says so in its violations", async () => {
  const service = await serve([libA]);
  expect((await ask(service.url, "/libs", { method: "DELETE" })).status).toBe(405);
  expect((await ask(service.url, "/libs", { method: "HEAD" })).status).toBe(405);
  expect(service.violations).toEqual([
    "DELETE /libs: only GET may ever be sent",
    "HEAD /libs: only GET may ever be sent",
  ]);
});
