import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { openTestPostgres } from "../support/embedded-server.ts";
import { replaceAnswers } from "./answer-blocks.ts";
import { followOrganization } from "./follow-organization.ts";

/** The questions about time need more than the minute that a demo takes. */
const FOLLOWED = "Ten questions about time";
const DOCUMENT = "docs/questions.md";
const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** Answers as psql prints them, in UTC. */
function psql(url: string, sql: string): string {
  const options = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-P", "pager=off", "-d", url, "-c", sql];
  return execFileSync("psql", options, { encoding: "utf8", env: { ...process.env, PGTZ: "UTC" } });
}

/** `20 November 2026, 21:49` in UTC. */
const formatMoment = (date: Date): string =>
  `${date.getUTCDate()} ${date.toLocaleString("en-GB", { month: "long", timeZone: "UTC" })} ${date.getUTCFullYear()}, ${date.toISOString().slice(11, 16)}`;

async function writeAnswers(stateDir: string): Promise<void> {
  const environment = { PATH: process.env.PATH, SIMCAT_STATE_DIR: stateDir };
  execFileSync(process.execPath, [MAIN, "demo"], { env: environment, stdio: ["ignore", "ignore", "inherit"] });
  const demoAt = new Date();
  const demoDir = join(stateDir, "demo");
  const settings = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
  const server = await openEmbeddedPostgres({ stateDir: demoDir, environment, settings }, new AbortController().signal);
  const followed = await openTestPostgres(join(stateDir, "followed"), settings);
  try {
    await followOrganization(followed.url);
    const text = replaceAnswers(readFileSync(DOCUMENT, "utf8"), (sql, heading) =>
      psql(heading === FOLLOWED ? followed.url : server.url, sql),
    );
    writeFileSync(DOCUMENT, text.replace(/\d+ \w+ \d{4}, \d\d:\d\d(?= UTC)/g, formatMoment(demoAt)));
  } finally {
    await followed.stop();
    await server.stop();
  }
}

// Writes the answers of docs/questions.md: those of `simcat demo`, and those of an organization that is followed for 120 days.
const stateDir = mkdtempSync(join(tmpdir(), "simcat-answers-"));
try {
  await writeAnswers(stateDir);
} finally {
  rmSync(stateDir, { recursive: true, force: true });
}
