import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";

/** Files that need neither a database nor the built command. */
const quick = [
  "test/*.test.ts",
  "test/{mock,mutations,off-heap,output,service,sync}/*.test.ts",
  "test/cli/{check-judgements,waiting}.test.ts",
  "test/deploy/{operations,release}.test.ts",
  "test/docs/{configuration,faults,links}.test.ts",
  "test/export/{columns,moment}.test.ts",
  "test/postgres/db-errors.test.ts",
  "test/reporting-page/{charts,pages}.test.ts",
  "test/worker/{http-server,log,progress,readiness,schedule,status-page}.test.ts",
];

/** Files that take minutes of processor time. */
const long = ["test/bench/tiny.test.ts", "test/docs/contributing.test.ts"];

const globalSetup = ["test/support/global-setup.ts"];

export default defineConfig({
  test: {
    // Most tests take seconds; a busy machine makes them ten times slower.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
    pool: "forks",
    // One process for many files: loading the same modules again for each file took a minute of processor time.
    isolate: false,
    // Twice the cores of a small machine, because most tests wait for processes, locks and time-outs.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: "quick", include: quick } },
      {
        extends: true,
        test: { name: "system", include: ["test/**/*.test.ts"], exclude: [...quick, ...long], globalSetup },
      },
      { extends: true, test: { name: "long", include: long, globalSetup } },
    ],
  },
});
