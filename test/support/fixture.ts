import { onTestFinished } from "vitest";
import { organizationOf } from "../../src/mock/organization.ts";
import { callCli, type Environment } from "./call-cli.ts";
import { runCli, startCli } from "./cli.ts";
import { freshTestDatabase } from "./database.ts";
import type { MockLibrary } from "./mock/library.ts";
import { type MockServiceOptions, startMockService } from "./mock/server.ts";

export const API_KEY = "test-key-5f2c";

export type Fixture = Awaited<ReturnType<typeof fixture>>;

/** A service that has these libraries, until the test is over. */
export async function serve(libraries: readonly MockLibrary[], options: Partial<MockServiceOptions> = {}) {
  const service = await startMockService({ organization: organizationOf(libraries), apiKey: API_KEY, ...options });
  onTestFinished(() => service.stop());
  return service;
}

/** A service with these libraries, an empty database, and the built CLI between them. */
export async function fixture(libraries: readonly MockLibrary[], options: Partial<MockServiceOptions> = {}) {
  const service = await serve(libraries, options);
  const database = await freshTestDatabase();
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

/** As `fixture`, after a first sync of all libraries. */
export async function syncedFixture(
  libraries: readonly MockLibrary[],
  options: Partial<MockServiceOptions> = {},
): Promise<Fixture> {
  const made = await fixture(libraries, options);
  const { code, stdout } = await made.call(["sync"]);
  if (code !== 0) throw new Error(`the first sync ended with ${code}\n${stdout}`);
  made.asked();
  return made;
}
