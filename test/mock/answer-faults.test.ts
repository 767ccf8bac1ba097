import { expect, test } from "vitest";
import type { FaultAction } from "../support/mock/faults.ts";
import { library, scenario } from "../support/organization.ts";
import { ask } from "./raw-client.ts";
import { serve } from "./service.ts";

/** Faults that simcat has to bear, so that a test with simcat would pass without them, and faults that alter items. */
test.each<[FaultAction, string, object]>([
  [{ kind: "bom" }, "scenarios", { text: expect.stringMatching(/^\ufeff\[\{"scenarioId":1,/) }],
  [
    { kind: "wrongBody", text: "a,b", contentType: "text/csv" },
    "scenarios",
    { headers: { "content-type": "text/csv" } },
  ],
  [{ kind: "wrongBody", text: "[]", contentType: null }, "scenarios", { headers: { "content-length": "2" } }],
  [{ kind: "headers", set: { Link: ["<a>", "<b>"] } }, "scenarios", { headers: { link: "<a>, <b>" } }],
  [
    { kind: "alterItem", index: 0, set: { fileSize: 7 }, setSource: { extra: '"\\u0000"' }, remove: ["packageName"] },
    "metadata",
    { text: expect.stringMatching(/"fileSize":7,"packageVersion":"4\.3\.6","description":null,"extra":"\\u0000"\}$/) },
  ],
  // Otherwise a test with such a fault would pass for nothing.
  [{ kind: "alterItem", index: 3, set: {} }, "scenarios", { status: 500, text: expect.stringContaining("no item 3") }],
])("%j answers the %s in this way", async (action, kind, expected) => {
  const { url } = await serve([library("alice", "A", { scenarios: [1] })], { faults: [{ action }] });
  const answer = await ask(url, `/libs/user/alice/A/${kind}`);
  expect(answer).toMatchObject(expected);
  if ("contentType" in action && action.contentType === null) expect(answer.headers).not.toHaveProperty("content-type");
});

test.each<[FaultAction, unknown[]]>([
  [{ kind: "dropItems", from: 1, count: 1 }, [1, 3]],
  [{ kind: "dropItems", from: -1 }, [1, 2]],
  [{ kind: "duplicateItem", index: 0, set: { scenarioId: 7 } }, [1, 2, 3, 7]],
  [{ kind: "alterItem", index: -1, set: { scenarioId: "abc" } }, [1, 2, "abc"]],
  [{ kind: "alterItem", index: "all", set: { scenarioId: null } }, [null, null, null]],
  [{ kind: "alterItem", index: 0, source: '{"scenarioId":9}' }, [9, 2, 3]],
])("%j leaves these items", async (action, ids) => {
  const libraries = [library("alice", "A", { scenarios: [1, scenario(2, { parentId: 1 }), 3] })];
  const { url } = await serve(libraries, { faults: [{ action }] });
  const items: { scenarioId: unknown }[] = JSON.parse((await ask(url, "/libs/user/alice/A/scenarios")).text);
  expect(items.map(({ scenarioId }) => scenarioId)).toEqual(ids);
});
