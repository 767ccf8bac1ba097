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
  [{ operation: "any" }, [418, 418, 418, 418, 418, 418]],
  [{ operation: "listing" }, [418, 200, 200, 200, 200, 404]],
  [{ operation: "metadata" }, [200, 418, 200, 418, 200, 404]],
  [{ operation: "scenarios", owner: "alice" }, [200, 200, 418, 200, 200, 404]],
  [{ library: "Q1/Q2 50%" }, [200, 200, 200, 418, 418, 404]],
  [{ path: "*/Q1%2FQ2*/metadata" }, [200, 200, 200, 418, 200, 404]],
  [{ path: "/libs" }, [418, 200, 200, 200, 200, 404]],
  [{ pathPattern: "^/libs/user/[a-b].*s$" }, [200, 200, 418, 200, 418, 404]],
])("a fault for %j concerns these requests and no others", async (match, expected) => {
  const service = await serve(libraries, { faults: [teapot({ match, times: "always" })] });
  expect(await statuses(service, PATHS)).toEqual(expected);
});

test("a fault fires once by default, after the requests that it skips", async () => {
  const lists = Array(4).fill("/libs");
  expect(await statuses(await serve(libraries, { faults: [teapot()] }), lists)).toEqual([418, 200, 200, 200]);
  expect(await statuses(await serve(libraries, { faults: [teapot({ times: 2 })] }), lists)).toEqual([
    418, 418, 200, 200,
  ]);
  expect(await statuses(await serve(libraries, { faults: [teapot({ skip: 2 })] }), lists)).toEqual([
    200, 200, 418, 200,
  ]);
});

test("faults follow one another in their order", async () => {
  const faults: Fault[] = [{ times: 2, action: { kind: "status", status: 503 } }, teapot()];
  expect(await statuses(await serve(libraries, { faults }), Array(4).fill("/libs"))).toEqual([503, 503, 418, 200]);
});

test("another script takes the place of the first", async () => {
  const service = await serve(libraries, { faults: [teapot({ times: "always" })] });
  expect(await statuses(service, ["/libs"])).toEqual([418]);
  service.script([teapot({ skip: 1 })]);
  expect(await statuses(service, ["/libs", "/libs", "/libs"])).toEqual([200, 418, 200]);
});

test("chance is drawn from the seed", async () => {
  const play = async (seed: number) => {
    const service = await serve(libraries, { seed, faults: [teapot({ times: "always", probability: 0.5 })] });
    return statuses(service, Array(30).fill("/libs"));
  };
  const first = await play(1);
  expect(await play(1)).toEqual(first);
  expect(await play(2)).not.toEqual(first);
  expect(new Set(first)).toEqual(new Set([200, 418]));
});

test("between runs an edit after the metadata and before the scenarios are answered", async () => {
  const service = await serve(libraries, {
    clock: () => new Date("2025-06-01T12:34:00Z"),
    faults: [{ match: { operation: "scenarios" }, action: { kind: "between", edit: "runParent" } }],
  });
  expect((await ask(service.url, "/libs/user/alice/A/metadata")).text).toContain('"2023-09-11 at 2:56 PM"');
  expect(JSON.parse((await ask(service.url, "/libs/user/alice/A/scenarios")).text)).toMatchObject([
    { scenarioId: 1 },
    { scenarioId: 2, parentId: 1, lastModified: "2025-06-01 at 12:34 PM" },
  ]);
});

test("between runs a function of the program, optionally after the answer", async () => {
  const service = await serve(libraries, {
    faults: [
      {
        match: { operation: "listing" },
        action: {
          kind: "between",
          when: "after",
          edit: (organization) => changeLibrary(organization, "alice", "A", { lastModified: "2025-01-01 at 1:00 AM" }),
        },
      },
    ],
  });
  expect((await ask(service.url, "/libs")).text).toContain('"alice","lastModified":"2023-09-11 at 2:56 PM"');
  expect((await ask(service.url, "/libs")).text).toContain('"alice","lastModified":"2025-01-01 at 1:00 AM"');
});
