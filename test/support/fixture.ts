import { onTestFinished } from "vitest";
import { organizationOf } from "../../src/mock/organization.ts";
import { callCli, type Environment } from "./call-cli.ts";
import { runCli, startCli } from "./cli.ts";
import { createTestDatabase, freshTestDatabase } from "./database.ts";
import type { MockLibrary } from "./mock/library.ts";
import { type MockServiceOptions, startMockService } from "./mock/mock-service.ts";

export const API_KEY = "test-key-5f2c";

export type Fixture = Awaited<ReturnType<typeof fixture>>;

/** The requests of a run that reads the content of one library, sorted. */
export const requestsFor = (library: string): string[] => [
  "GET /libs",
  ...["metadata", "scenarios"].map((part) => `GET /libs/user/${library}/${part}`),
];

/** A service that has these libraries, until the test is over. */
export async function serve(libraries: readonly MockLibrary[], options: Partial<MockServiceOptions> = {}) {
  const service = await startMockService({ organization: organizationOf(libraries), apiKey: API_KEY, ...options });
  onTestFinished(() => service.stop());
  return service;
}

/** A service with these libraries, a clone of the template or an empty database, and the built CLI between them. */
export async function fixture(
  libraries: readonly MockLibrary[],
  options: Partial<MockServiceOptions> = {},
  template?: string,
) {
  const service = await serve(libraries, options);
  const database = await freshTestDatabase({ template });
  const environment: Environment = {
    SIMCAT_BASE_URL: service.url,
    SIMCAT_API_KEY: API_KEY,
    DATABASE_URL: database.url,
    // Tests do not wait for retries: two attempts prove as much as five.
    SIMCAT_MAX_RETRIES: "1",
  };
  return {
    service,
    database,
    environment,
    /** Runs the built CLI against the service and the database. */
    simcat: (args: readonly string[], more: Environment = {}) => runCli(args, { ...environment, ...more }),
    /**
     * Runs a command within the test's process, which takes a fifth of the processor time: for runs that only lead to the one
     * that a test is about, and for tables of many runs.
     */
    call: (args: readonly string[], more: Environment = {}, stop?: AbortSignal) =>
      callCli(args, { ...environment, ...more }, stop),
    start: (args: readonly string[], more: Environment = {}) => startCli(args, { ...environment, ...more }),
    query: database.query,
    lines: database.lines,
    /** Requests to the service since the last call, as `METHOD path`, in order of arrival. */
    asked(): string[] {
      const lines = service.requests.map(({ method, path }) => `${method} ${path}`);
      service.clearRequests();
      return lines;
    },
  };
}

/** The names of databases after a first sync, by their libraries. The end of all tests drops them. */
const synced = new Map<string, Promise<string>>();

async function createSynced(libraries: readonly MockLibrary[]): Promise<string> {
  const service = await serve(libraries);
  const { name, url, pool } = await createTestDatabase();
  await pool.end();
  const settings = { SIMCAT_BASE_URL: service.url, SIMCAT_API_KEY: API_KEY, DATABASE_URL: url };
  const { code, stdout } = await callCli(["sync"], settings);
  if (code !== 0) throw new Error(`the first sync ended with ${code}\n${stdout}`);
  return name;
}

/** As `fixture`, after a first sync of all libraries, which tests with the same libraries share. */
export async function syncedFixture(
  libraries: readonly MockLibrary[],
  options: Partial<MockServiceOptions> = {},
): Promise<Fixture> {
  const key = JSON.stringify(libraries);
  const template = synced.get(key) ?? createSynced(libraries);
  synced.set(key, template);
  return fixture(libraries, options, await template);
}
