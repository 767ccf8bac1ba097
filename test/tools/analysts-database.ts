import { beforeAll } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { startMockService } from "../../src/mock/mock-service.ts";
import { organizationOf } from "../../src/mock/organization.ts";
import { useCluster } from "../deploy/cluster.ts";
import { callCli } from "../support/call-cli.ts";
import { AWKWARD_NAMES, library, scenario } from "../support/organization.ts";

const API_KEY = "key-of-the-tests";

export const HOSTILE_OWNER = "O'Brien'); DROP TABLE simcat.libraries;--";

/** The owner whose only library is removed before the second run. */
export const OWNER_WHO_LEFT = "zoe";

/** An organization whose names break careless code. */
const LIBRARIES = [
  library("ann", "Forest", { scenarios: [1, scenario(2, { parentId: 1 }), 3], fileSize: "216 KB  (221,184 B)" }),
  library("ann", "Old forest", { packageVersion: "4.0.10", scenarios: [1] }),
  library("bob", "Undated", { lastModified: "some day", fileSize: "large", packageName: null, packageVersion: null }),
  library("bob", "From the future", { lastModified: "2099-01-01 at 1:00 PM", packageName: null, packageVersion: null }),
  library(OWNER_WHO_LEFT, "Last", { scenarios: [1] }),
  ...AWKWARD_NAMES.map((name) => library(HOSTILE_OWNER, name, { scenarios: [scenario(1, { scenarioName: name })] })),
];

/** A database as analysts use it: roles.sql applied, schema migrated, two runs done. Shared by a whole test file. */
export function useAnalystsDatabase() {
  const cluster = useCluster();
  let database = "";
  beforeAll(async () => {
    database = await cluster.database();
    const url = cluster.url(database, "simcat_migrator");
    await migrate(url, new AbortController().signal);
    await fill(url);
  });
  return {
    /** A session of simcat_reader that ends with the test. */
    reader: () => cluster.session(database, "simcat_reader"),
    /** The same for the owner of the database, in a transaction that is rolled back. */
    async admin() {
      const session = await cluster.session(database);
      await session.query("BEGIN");
      return session;
    },
  };
}

async function fill(url: string): Promise<void> {
  const organization = organizationOf(LIBRARIES);
  const service = await startMockService({ organization, apiKey: API_KEY });
  try {
    const environment = { SIMCAT_BASE_URL: service.url, SIMCAT_API_KEY: API_KEY, DATABASE_URL: url };
    for (const command of ["backfill", "sync"]) {
      const { code, stderr } = await callCli([command], environment);
      if (code !== 0) throw new Error(`${command} ended with ${code}\n${stderr}`);
      organization.remove(OWNER_WHO_LEFT, "Last");
    }
  } finally {
    await service.stop();
  }
}
