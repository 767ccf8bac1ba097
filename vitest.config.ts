import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    // Most tests take seconds; a busy machine makes them ten times slower.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
    pool: "forks",
    // One process for many files: what each would load anew was a minute of processor time.
    isolate: false,
    // One more than two cores: tests wait for time-outs as much as they work.
    maxWorkers: 3,
  },
});
