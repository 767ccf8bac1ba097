import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeOutput } from "../../src/cli/write-output.ts";
import { MAIN, startProgram } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const never = new AbortController().signal;
const NEW = "the new page";
const write = (path: string) => writeOutput(path, Buffer.from(NEW), never);

test("replaces a file atomically, keeps its mode and leaves no temporary file", async () => {
  const directory = temporaryDirectory();
  const file = join(directory, `${"x".repeat(250)}.html`);
  writeFileSync(file, "a longer page of yesterday");
  chmodSync(file, 0o604);
  const before = statSync(file);

  await write(file);

  expect(readFileSync(file, "utf8")).toBe(NEW);
  expect((statSync(file).mode & 0o777).toString(8)).toBe("604");
  expect(statSync(file).ino).not.toBe(before.ino);
  expect(readdirSync(directory)).toHaveLength(1);
});

test.each([
  ["an absolute link", (directory: string) => join(directory, "pages", "page.html")],
  ["a relative link", () => "pages/page.html"],
  ["a link by way of another directory", () => "other/../pages/page.html"],
])("%s remains a link, and its target file is replaced (fault 70)", async (_, target) => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "pages"));
  mkdirSync(join(directory, "other"));
  const file = join(directory, "pages", "page.html");
  const link = join(directory, "link");
  symlinkSync(target(directory), link);
  symlinkSync("link", join(directory, "outer"));

  for (const page of ["missing", "there"]) {
    expect([page, existsSync(file)]).toEqual([page, page === "there"]);
    await write(join(directory, "outer"));
    expect(readFileSync(file, "utf8")).toBe(NEW);
  }

  expect(readlinkSync(link)).toBe(target(directory));
  expect(readlinkSync(join(directory, "outer"))).toBe("link");
  expect(lstatSync(file).isFile()).toBe(true);
});

test.each(["/dev/null", "/dev/zero"])("writes to %s, which remains a device (fault 70)", async (device) => {
  const link = join(temporaryDirectory(), "link");
  symlinkSync(device, link);
  await write(link);
  expect(readlinkSync(link)).toBe(device);
  expect(statSync(device).isCharacterDevice()).toBe(true);
});

test.each([
  ["a full device", "/dev/full", "ENOSPC"],
  ["a directory", "/tmp", "EISDIR"],
  ["a link to itself", "link", "ELOOP"],
  ["a directory that is not there", "/nowhere/page.html", "ENOENT"],
])("%s is an error", async (_, target, message) => {
  const link = join(temporaryDirectory(), "link");
  symlinkSync(target, link);
  await expect(write(link)).rejects.toThrow(message);
  expect(readlinkSync(link)).toBe(target);
});

test("the reader of a named pipe receives the whole output; a pipe without a reader is an error (fault 70)", async () => {
  const pipe = join(temporaryDirectory(), "pipe");
  execFileSync("mkfifo", [pipe]);
  await expect(write(pipe)).rejects.toThrow("ENXIO");
  // Opened for reading and writing, a pipe does not wait for its other end.
  const reader = await open(pipe, "r+");
  onTestFinished(() => reader.close());
  // More than the buffer of a pipe holds.
  const page = Buffer.alloc(1_000_000, "x");
  const writing = writeOutput(pipe, page, never);
  let received = 0;
  while (received < page.length) received += (await reader.read()).bytesRead;
  await writing;
  expect(received).toBe(page.length);
  expect(statSync(pipe).isFIFO()).toBe(true);

  const stop = new AbortController();
  const stopped = writeOutput(pipe, page, stop.signal);
  stop.abort(new Error("enough"));
  await expect(stopped).rejects.toThrow("enough");
});

test("report writes a page to --out; standard output gets the page and nothing else (fault 70)", async () => {
  const { simcat, call, environment } = await fixture([]);
  const isPage = /^<!doctype html>.*<\/html>\n$/s;
  const refused = await call(["report", "--out", "/dev/full"]);
  expect(refused.code).toBe(64);
  expect(JSON.parse(refused.stderr).msg).toContain("the report cannot be written to /dev/full: ENOSPC");
  const printed = await simcat(["report", "--out", "-"]);
  expect({ code: printed.code, isPage: isPage.test(printed.stdout) }).toEqual({ code: 0, isPage: true });
  expect(printed.stderr).toContain("report: /dev/stdout (");
  const program = `'${process.execPath}' '${MAIN}' report --out /dev/stdout`;
  const file = join(temporaryDirectory(), "page.html");
  const redirected = await startProgram("bash", ["-c", `${program} > ${file}`], environment).ended;
  expect(redirected).toMatchObject({ code: 0, stdout: "" });
  expect(readFileSync(file, "utf8")).toMatch(isPage);
});

/** Refuses every write with ENOSPC, like a file on a full disk. */
const FULL = "/dev/full";

test.runIf(process.platform === "linux").each(["sync --help", "sync", "report --out -", "mock --port 0"])(
  "%s exits with 1 if standard output cannot be written; a run is complete in the database (fault 121)",
  async (line) => {
    const { environment, query } = await fixture([library("alice", "Fire", { scenarios: [1] })]);
    const full = openSync(FULL, "w");
    onTestFinished(() => closeSync(full));
    const settings = { ...environment, SIMCAT_LOG_LEVEL: "error", SIMCAT_LOG_FORMAT: "pretty" };
    const args = [MAIN, ...line.split(" ")];
    const program = startProgram(process.execPath, args, settings, { stdio: ["ignore", full, "pipe"] });
    const { code, stderr } = await program.ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "simcat: standard output cannot be written: ENOSPC: no space left on device, write\n",
    });
    expect(await query("SELECT status FROM simcat.sync_runs")).toEqual(line === "sync" ? [{ status: "ok" }] : []);
  },
);
