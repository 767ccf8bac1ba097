import { onTestFinished } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { organizationOf } from "../../src/mock/organization.ts";
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
  start(args: readonly string[], more?: Readonly<Record<string, string>>): Running;
  query<T = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<T[]>;
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
    start: (args, more = {}) => startCli(args, { ...environment, ...more }),
    query: database.query as Fixture["query"],
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
  await syncInProcess(made.environment);
  made.asked();
  return made;
}

/** For the set-up of tests: starting a process takes ten times the processor time of the sync itself. */
async function syncInProcess(environment: Readonly<Record<string, string>>): Promise<void> {
  let output = "";
  const write = (text: string) => {
    output += `${text}\n`;
  };
  const exitCode = await runProgram(
    {
      environment,
      dotenv: new Set(),
      version: "0.0.0",
      build: "0.0.0",
      invocation: "simcat",
      print: write,
      note: write,
      draw: write,
      terminal: { isOut: false, isErr: false, columns: 80 },
      stop: new AbortController().signal,
      hide: () => {},
      mask: (text) => text,
    },
    ["sync"],
  );
  if (exitCode !== 0) throw new Error(`the first sync ended with ${exitCode}\n${output}`);
}
