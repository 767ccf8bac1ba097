import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import type { Fields } from "../support/mock/library.ts";
import { library, scenario } from "../support/organization.ts";
import { kept, lastRun, libraryLogLines, logLines } from "./run-results.ts";

// Several consecutive CLI runs.
const NOW = "2030-01-02 at 3:04 PM";

/** Starts a proxy that answers each path in `swaps` with another path's content; returns the CLI's environment. */
async function openProxy({ service }: Fixture, swaps: ReadonlyMap<string, string>) {
  const origin = new URL(service.url);
  const proxy = createServer((incoming, outgoing) => {
    const path = swaps.get(incoming.url ?? "") ?? incoming.url;
    const { host: _, ...headers } = incoming.headers;
    request(new URL(path ?? "/", origin), { headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    }).end();
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { SIMCAT_BASE_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${origin.pathname}` };
}

/** Answers each of the two libraries with the other one's metadata and scenarios. */
function swap(one: string, other: string): Map<string, string> {
  return new Map(
    ["metadata", "scenarios"].flatMap((what): [string, string][] => [
      [`/libs/user/${one}/${what}`, `/libs/user/${other}/${what}`],
      [`/libs/user/${other}/${what}`, `/libs/user/${one}/${what}`],
    ]),
  );
}

const suspectReads = ({ query }: Fixture) =>
  query<{ name: string; suspect: number }>(
    "SELECT library_name AS name, suspect_reads AS suspect FROM simcat.library_sync ORDER BY owner, library_name",
  );

test.each([
  ["two names", library("ann", "Fire", { scenarios: [1] }), library("ann", "Water", { scenarios: [1, 2] })],
  [
    "two names of an organization",
    library("ann", "Fire", { libraryOwner: "Boreal Lab", scenarios: [1] }),
    library("ann", "Water", { libraryOwner: "Boreal Lab", scenarios: [1, 2] }),
  ],
])("swapped answers of %s fail both libraries and overwrite nothing (fault 51)", async (_, one, other) => {
  const made = await syncedFixture([one, other, library("cy", "Other", { scenarios: [1] })]);
  const before = await kept(made.query, [one.name, other.name]);
  for (const { owner, name } of [one, other]) {
    made.service.change(owner, name, { lastModified: NOW });
  }
  const behind = await openProxy(made, swap(`${one.owner}/${one.name}`, `${other.owner}/${other.name}`));

  const ended = await made.simcat(["sync"], behind);

  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended).map(({ code }) => code)).toEqual(["mismatched", "mismatched"]);
  expect(
    logLines(ended).find(
      ({ code, owner, library }) => code === "mismatched" && owner === one.owner && library === one.name,
    ),
  ).toMatchObject({
    error: `the metadata that was received for ${one.owner}/${one.name} names ${other.owner}/${other.name}, another library of this owner, so nothing was overwritten. Does a proxy or cache mix up answers?`,
  });
  expect(await kept(made.query, [one.name, other.name])).toEqual(before);
  expect(await lastRun(made.query)).toEqual({
    status: "partial",
    libraries_listed: 3,
    libraries_skipped: 1,
    libraries_failed: 2,
  });

  expect((await made.call(["sync"])).code).toBe(0);
  expect((await made.call(["verify"])).code).toBe(0);
});

test("metadata of a library whose removal is held is not stored under another name (fault 51)", async () => {
  const names = ["Air", "Earth", "Fire", "Water"];
  const made = await syncedFixture(names.map((name) => library("ann", name, { scenarios: [1] })));
  made.service.remove("ann", "Air");
  made.service.remove("ann", "Earth");
  expect((await made.call(["sync"])).code).toBe(3);
  const before = await kept(made.query, ["Fire"]);
  made.service.change("ann", "Fire", { lastModified: NOW, metadataFields: { libraryName: "Air" } });

  expect((await made.call(["sync"])).code).toBe(3);
  expect(await made.query("SELECT failures::int FROM simcat.library_sync WHERE library_name = 'Fire'")).toEqual([
    { failures: 1 },
  ]);
  expect(await kept(made.query, ["Fire"])).toEqual(before);
});

test("a libraryOwner with a library of the same name fails nothing and never settles (fault 48)", async () => {
  const made = await syncedFixture([
    library("ann", "Fire", { libraryOwner: "bob", scenarios: [1] }),
    library("bob", "Fire", { scenarios: [1, 2] }),
  ]);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 2, scenarios_inserted: 3 });
  expect(await suspectReads(made)).toEqual([
    { name: "Fire", suspect: 1 },
    { name: "Fire", suspect: 0 },
  ]);

  const edit = { lastModified: NOW, scenarios: [scenario(1, { scenarioName: "renamed" })] };
  made.service.change("ann", "Fire", edit);
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 1, scenarios_updated: 1 });
});

test("swapped answers of one name under two owners heal in the next run (fault 51)", async () => {
  const made = await syncedFixture([
    library("ann", "Fire", { scenarios: [1] }),
    library("bob", "Fire", { scenarios: [1, 2] }),
  ]);
  for (const owner of ["ann", "bob"]) {
    made.service.change(owner, "Fire", { lastModified: NOW });
  }

  expect((await made.call(["sync"], await openProxy(made, swap("ann/Fire", "bob/Fire")))).code).toBe(0);
  expect((await suspectReads(made)).map(({ suspect }) => suspect)).toEqual([1, 1]);

  expect((await made.call(["sync"])).code).toBe(0);
  expect((await made.call(["verify"])).code).toBe(0);
});

test("metadata that names no listed library is stored with a warning and never settles (fault 48)", async () => {
  const names = ["Fire", "fire", "Montréal"];
  const spelt = ["fire!", "fire ", "Montre\u0301al"];
  const made = await fixture(
    names.map((name, at) => library("ann", name, { metadataFields: { libraryName: spelt[at] ?? "" } })),
  );

  for (const reads of [1, 2, 3]) {
    const ended = await made.call(["sync", "--json"]);
    expect(ended.code).toBe(0);
    expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 3 });
    expect(await suspectReads(made)).toEqual([...names].sort().map((name) => ({ name, suspect: reads })));
    expect(JSON.parse(ended.stdout).warnings).toEqual([
      {
        code: "content_misnamed",
        message: expect.stringMatching(/^the metadata of 3 libraries has another libraryName/),
      },
    ]);
  }

  // Rejected metadata leaves the stored one, so the suspicion stays.
  const rename = (metadataFields: Fields) => {
    for (const name of names) {
      made.service.change("ann", name, { metadataFields });
    }
  };
  rename({ fileSize: 5 });
  expect((await made.call(["backfill"])).code).toBe(2);
  expect((await suspectReads(made)).map(({ suspect }) => suspect)).toEqual([3, 3, 3]);

  rename({});
  expect((await made.call(["backfill"])).code).toBe(0);
  expect((await suspectReads(made)).map(({ suspect }) => suspect)).toEqual([0, 0, 0]);
});
