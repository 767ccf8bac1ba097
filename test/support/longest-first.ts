import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take over 25 seconds on a busy machine. A file that starts last and takes long leaves cores idle. */
const LONGEST = [
  "test/simulation/simulation.test.ts",
  "test/process/lease.test.ts",
  "test/postgres/waits.test.ts",
  "test/worker/runs.test.ts",
  "test/verify/verify.test.ts",
  "test/process/slices.test.ts",
  "test/postgres/sessions.test.ts",
  "test/faults/long-lists.test.ts",
  "test/worker/outages.test.ts",
  "test/reporting-page/browser.test.ts",
  "test/process/demo.test.ts",
  "test/embedded/processes.test.ts",
  "test/faults/poisoned.test.ts",
  "test/process/notification.test.ts",
];

/** Runs one project after the other, and the files of `LONGEST` first in each. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const root = this.ctx.config.root;
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.indexOf(relative(root, moduleId));
      return at < 0 ? LONGEST.length : at;
    };
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => a.project.name.localeCompare(b.project.name) || rank(a) - rank(b));
  }
}
