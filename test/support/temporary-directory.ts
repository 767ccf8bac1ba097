import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A new directory, removed after the test; with `afterAll` as the argument, after those of the file. */
export function temporaryDirectory(atEnd: (remove: () => void) => void = onTestFinished): string {
  const directory = mkdtempSync(join(tmpdir(), "simcat-test-"));
  atEnd(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20 }));
  return directory;
}
