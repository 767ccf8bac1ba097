import { onTestFinished } from "vitest";
import { organizationOf } from "../../src/mock/organization.ts";
import { callCli } from "./call-cli.ts";
import { type Ended, type Running, runCli, startCli } from "./cli.ts";
import { freshTestDatabase, type TestDatabase } from "./database.ts";
import type { MockLibrary } from "./mock/library.ts";
import { type MockService, type MockServiceOptions, startMockService } from "./mock/server.ts";

export const API_KEY = "test-key-5f2c";

export interface Fixture {
  readonly service: MockService;
  readonly database: TestDatabase;
  readonly environment: Readonly<Record<string, string>>;
  /** Runs the built CLI against the service and the database. */
  simcat(args: readonly string[], more?: Readonly<Record<string, string>>): Promise<Ended>;
  /**
   * Runs a command within the test's process, which takes a fifth of the processor time: for runs that only lead to the one
   * that a test is about, and for tables of many runs.
   */
  call(args: readonly string[], more?: Readonly<Record<string, string>>, stop?: AbortSignal): Promise<Ended>;
  start(args: readonly string[], more?: Readonly<Record<string, string>>): Running;
  query<T = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  /** Each row as one text: its values with blanks between them. For texts, numbers and booleans; NULL is `NULL`. */
  lines(sql: string, parameters?: readonly unknown[]): Promise<string[]>;
  /** Requests to the service since the last call, as `METHOD path`, in order of arrival. */
  asked(): string[];
}

/** A service with these libraries, an empty database, and the built CLI between them. */
export async function fixture(
  libraries: readonly MockLibrary[],
  options: Partial<MockServiceOptions> = {},
): Promise<Fixture> {
  const service = await startMockService({ organization: organizationOf(libraries), apiKey: API_KEY, ...options });
  onTestFinished(() => service.stop());
  const database = await freshTestDatabase();
  const environment = {
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
    simcat: (args, more = {}) => runCli(args, { ...environment, ...more }),
    call: (args, more = {}, stop) => callCli(args, { ...environment, ...more }, stop),
    start: (args, more = {}) => startCli(args, { ...environment, ...more }),
    query: database.query as Fixture["query"],
    lines: database.lines,
    asked() {
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
