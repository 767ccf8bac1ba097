import type { MockLibrary, MockScenario } from "./mock/library.ts";
import type { MockService } from "./mock/mock-service.ts";

/** The date of a library unless a test gives another one. It is old, so that a first read settles it. */
export const OLD = "2023-09-11 at 2:56 PM";

/** The date of an edit. */
export const NEWER = "2030-01-02 at 3:04 PM";

/** One library; omitted fields have old, unremarkable values. A number is the id of a parent scenario. */
export function library(
  owner: string,
  name: string,
  rest: Partial<Omit<MockLibrary, "owner" | "name" | "scenarios">> & {
    readonly scenarios?: readonly (number | MockScenario)[];
  } = {},
): MockLibrary {
  const { scenarios = [], ...fields } = rest;
  return {
    owner,
    name,
    libraryOwner: owner,
    lastModified: OLD,
    fileSize: "240 KB",
    packageName: "landscape",
    packageVersion: "4.3.6",
    description: null,
    ...fields,
    scenarios: scenarios.map((each) => (typeof each === "number" ? scenario(each) : each)),
  };
}

/** So many libraries of alice's, called `Lib 0` and so on, with three scenarios each. */
export const numbered = (count: number): MockLibrary[] =>
  Array.from({ length: count }, (_, at) => library("alice", `Lib ${at}`, { scenarios: [1, 2, 3] }));

/** Changes all libraries in the same way. */
export function changeAll(service: MockService, changes: Partial<MockLibrary>): void {
  for (const { owner, name } of service.organization.libraries()) service.change(owner, name, changes);
}

/** One scenario; with a `parentId` it is a result. */
export function scenario(scenarioId: number, rest: Partial<Omit<MockScenario, "scenarioId">> = {}): MockScenario {
  const { parentId = null } = rest;
  return {
    scenarioId,
    parentId,
    scenarioName: parentId === null ? `Scenario ${scenarioId}` : `Result ${scenarioId}`,
    isResult: parentId !== null,
    lastModified: OLD,
    description: null,
    ...rest,
  };
}

/** Valid names of libraries and scenarios that break careless code. */
export const AWKWARD_NAMES: readonly string[] = [
  "Fire Risk (Revelstoke, British Columbia)",
  "Protected Areas Multispecies Connectivity - Montérégie - Sample",
  "A ([1] @ 13-Oct-2024 10:00 AM) ([2] @ 14-Oct-2024 9:05 AM)",
  "O'Brien; DROP TABLE libraries;--",
  "Q1/Q2 50% done #3?x=1&y=2",
  "%2e%2e",
  "a%2Fb",
  " lead",
  "trail ",
  "Lib",
  "lib",
  "🌲🔥 burn 👩‍🔬",
  "مكتبة ١",
  "name\nERROR fake log line",
  '"x\n{"level":"info"}"',
  "\u001b[31mred",
  '=HYPERLINK("http://x","y")',
  "<img src=x onerror=alert(1)>",
  "Montre\u0301al",
  "Montréal",
  "...",
  "back\\slash",
  "plus+and&",
];
