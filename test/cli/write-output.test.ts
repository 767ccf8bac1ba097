import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeOutput } from "../../src/cli/write-output.ts";
import { MAIN, startProgram } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";

const never = new AbortController().signal;
const NEW = "the new page";
const write = (path: string) => writeOutput(path, Buffer.from(NEW), never);

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "simcat-output-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("replaces a file atomically, keeps its mode and leaves no temporary file", async () => {
  const directory = folder();
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

test.runIf(process.getuid?.() === 0)("a file replaced by root keeps its owner and group", async () => {
  const file = join(folder(), "page.html");
  writeFileSync(file, "old");
  chownSync(file, 1234, 2345);
  chmodSync(file, 0o640);
  await write(file);
  const { uid, gid, mode } = statSync(file);
  expect({ uid, gid, mode: (mode & 0o777).toString(8) }).toEqual({ uid: 1234, gid: 2345, mode: "640" });
});

test.each([
  ["an absolute link", (directory: string) => join(directory, "pages", "page.html")],
  ["a relative link", () => "pages/page.html"],
  ["a link by way of another directory", () => "other/../pages/page.html"],
])("%s remains a link, and its target file is replaced (fault 70)", async (_, target) => {
  const directory = folder();
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

test("resolves a relative link below a linked directory from the directory itself", async () => {
  const directory = folder();
  mkdirSync(join(directory, "a/b"), { recursive: true });
  symlinkSync(join(directory, "a/b"), join(directory, "short"));
  symlinkSync("../page.html", join(directory, "a/b/link"));
  await write(join(directory, "short/link"));
  expect(readFileSync(join(directory, "a/page.html"), "utf8")).toBe(NEW);
});

test.each(["/dev/null", "/dev/zero"])("writes to %s, which remains a device (fault 70)", async (device) => {
  const link = join(folder(), "link");
  symlinkSync(device, link);
  expect(await write(link)).toBe(false);
  expect(readlinkSync(link)).toBe(device);
  expect(statSync(device).isCharacterDevice()).toBe(true);
});

test.each([
  ["a full device", "/dev/full", "ENOSPC"],
  ["a directory", "/tmp", "it is a directory"],
  ["a link to itself", "link", "ELOOP"],
  ["a directory that is not there", "/nowhere/page.html", "ENOENT"],
])("%s is an error", async (_, target, message) => {
  const link = join(folder(), "link");
  symlinkSync(target, link);
  await expect(write(link)).rejects.toThrow(message);
  expect(readlinkSync(link)).toBe(target);
});

test("waits for the reader of a named pipe, which receives the whole output (fault 70)", async () => {
  const pipe = join(folder(), "pipe");
  execFileSync("mkfifo", [pipe]);
  // More than the buffer of a pipe holds.
  const page = Buffer.alloc(1_000_000, "x");
  const writing = writeOutput(pipe, page, never);
  const read = await readFile(pipe);
  await writing;
  expect(read.equals(page)).toBe(true);
  expect(statSync(pipe).isFIFO()).toBe(true);
});

test("a stop signal ends the wait for the reader of a pipe", async () => {
  const pipe = join(folder(), "pipe");
  execFileSync("mkfifo", [pipe]);
  const stop = new AbortController();
  const writing = writeOutput(pipe, Buffer.from(NEW), stop.signal);
  stop.abort(new Error("enough"));
  await expect(writing).rejects.toThrow("enough");
});

test.runIf(process.getuid?.() === 0)(
  "in a read-only directory, a writable file gets new content in place",
  async () => {
    const directory = folder();
    const file = join(directory, "page.html");
    // A copy, because another user may not be allowed to read the project's directory.
    const project = folder();
    for (const name of ["dist", "package.json"]) cpSync(name, join(project, name), { recursive: true });
    chmodSync(project, 0o755);
    const program = join(project, "write.js");
    writeFileSync(
      program,
      `import { writeOutput } from "./dist/cli/write-output.js";
     await writeOutput(process.argv[2], Buffer.from(${JSON.stringify(NEW)}), new AbortController().signal);`,
    );
    writeFileSync(file, "a longer page of yesterday");
    chownSync(file, 65_534, 65_534);
    chmodSync(directory, 0o555);
    const before = statSync(file);

    const asNobody = { uid: 65_534, gid: 65_534 };
    const { code, stderr } = await startProgram(process.execPath, [program, file], {}, asNobody).ended;

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(readFileSync(file, "utf8")).toBe(NEW);
    expect(statSync(file).ino).toBe(before.ino);
    chmodSync(file, 0o444);
    const refused = await startProgram(process.execPath, [program, file], {}, asNobody).ended;
    expect(refused.stderr).toContain("EACCES");
    expect(readdirSync(directory).sort()).toEqual(["page.html"]);
  },
);

test("report writes to the target of --out; standard output gets the page and nothing else (fault 70)", async () => {
  const { simcat, start, environment } = await fixture([]);
  expect((await simcat(["migrate"])).code).toBe(0);
  const directory = folder();
  const [nothing, full] = [join(directory, "null"), join(directory, "full")];
  symlinkSync("/dev/null", nothing);
  symlinkSync("/dev/full", full);

  const silent = await simcat(["report", "--out", nothing]);
  expect({ code: silent.code, said: silent.stdout.split(" (")[0] }).toEqual({ code: 0, said: `report: ${nothing}` });
  expect([nothing, full].map((link) => lstatSync(link).isSymbolicLink())).toEqual([true, true]);

  const refused = await simcat(["report", "--out", full]);
  expect(refused.code).toBe(64);
  expect(JSON.parse(refused.stderr).msg).toContain(`the report cannot be written to ${full}: ENOSPC`);

  const isPage = /^<!doctype html>.*<\/html>\n$/s;
  // Node passes a socket, which cannot be opened by its path; a shell passes a pipe or a file.
  const socket = await simcat(["report", "--out", "/dev/stdout"]);
  expect({ code: socket.code, isPage: isPage.test(socket.stdout) }).toEqual({ code: 0, isPage: true });
  expect(socket.stderr).toContain("report: /dev/stdout (");
  const program = `'${process.execPath}' '${MAIN}' report --out /dev/stdout`;
  const pipe = await startProgram("bash", ["-c", `${program} | cat`], environment).ended;
  expect({ code: pipe.code, isPage: isPage.test(pipe.stdout) }).toEqual({ code: 0, isPage: true });
  const file = join(directory, "page.html");
  const redirected = await startProgram("bash", ["-c", `${program} > ${file}`], environment).ended;
  expect(redirected).toMatchObject({ code: 0, stdout: "" });
  expect(readFileSync(file, "utf8")).toMatch(isPage);

  const pipePath = join(directory, "pipe");
  execFileSync("mkfifo", [pipePath]);
  const waiting = start(["report", "--out", pipePath]);
  expect((await readFile(pipePath, "utf8")).slice(0, 15)).toBe("<!doctype html>");
  expect((await waiting.ended).code).toBe(0);
});
