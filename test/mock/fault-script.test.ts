import { expect, test } from "vitest";
import type { Fault, FaultMatch } from "../support/mock/faults.ts";
import { changeLibrary } from "../support/mock/library.ts";
import type { MockService } from "../support/mock/server.ts";
import { library } from "../support/organization.ts";
import { ask } from "./raw-client.ts";
import { serve } from "./service.ts";

const libraries = [library("alice", "A", { scenarios: [1] }), library("bob", "Q1/Q2 50%", { scenarios: [2] })];
const PATHS = [
  "/libs",
  "/libs/user/alice/A/metadata",
  "/libs/user/alice/A/scenarios",
  "/libs/user/bob/Q1%2FQ2%2050%25/metadata",
  "/libs/user/bob/Q1%2FQ2%2050%25/scenarios",
  "/elsewhere",
];

async function statuses(service: MockService, paths: readonly string[]): Promise<number[]> {
  const answered: number[] = [];
  for (const path of paths) answered.push((await ask(service.url, path)).status);
  return answered;
}

const teapot = (rest: Omit<Fault, "action"> = {}): Fault => ({ ...rest, action: { kind: "status", status: 418 } });

test.each<[FaultMatch, number[]]>([
  [{}, [418, 418, 418, 418, 418, 418]],
  [{ operation: "listing" }, [418, 200, 200, 200, 200, 404]],
  [{ operation: "metadata" }, [200, 418, 200, 418, 200, 404]],
  [{ operation: "scenarios", owner: "alice" }, [200, 200, 418, 200, 200, 404]],
  [{ library: "Q1/Q2 50%" }, [200, 200, 200, 418, 418, 404]],
  [{ path: "*/Q1%2FQ2*/metadata" }, [200, 200, 200, 418, 200, 404]],
  [{ pathPattern: "^/libs/user/[a-b].*s$" }, [200, 200, 418, 200, 418, 404]],
])("a fault for %j concerns these requests and no others", async (match, expected) => {
  const service = await serve(libraries, { faults: [teapot({ match, times: "always" })] });
  expect(await statuses(service, PATHS)).toEqual(expected);
});

test.each<[string, Fault[], number[]]>([
  ["fires once by default", [teapot()], [418, 200, 200, 200]],
  ["fires as often as it says", [teapot({ times: 2 })], [418, 418, 200, 200]],
  ["lets the skipped requests pass", [teapot({ skip: 2 })], [200, 200, 418, 200]],
  ["follows the one before", [{ times: 2, action: { kind: "status", status: 503 } }, teapot()], [503, 503, 418, 200]],
])("a fault %s, and again in the next script", async (_, faults, expected) => {
  const service = await serve(libraries, { faults });
  for (const _round of [1, 2]) {
    expect(await statuses(service, Array(4).fill("/libs"))).toEqual(expected);
    service.script(faults);
  }
});

test("between edits before the answer or after it", async () => {
  const service = await serve(libraries, { clock: () => new Date("2025-06-01T12:34:00Z") });
  service.once({ operation: "scenarios" }, { kind: "between", edit: "runParent" });
  expect((await ask(service.url, "/libs/user/alice/A/metadata")).text).toContain('"2023-09-11 at 2:56 PM"');
  expect(JSON.parse((await ask(service.url, "/libs/user/alice/A/scenarios")).text)).toMatchObject([
    { scenarioId: 1 },
    { scenarioId: 2, parentId: 1, lastModified: "2025-06-01 at 12:34 PM" },
  ]);
  service.once(
    { operation: "listing" },
    { kind: "between", when: "after", edit: (all) => changeLibrary(all, "alice", "A", { lastModified: "later" }) },
  );
  expect((await ask(service.url, "/libs")).text).toContain('"alice","lastModified":"2025-06-01 at 12:34 PM"');
  expect((await ask(service.url, "/libs")).text).toContain('"alice","lastModified":"later"');
});
