import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addRows } from "../reporting/stored-rows.ts";
import { MAIN, startProgram } from "../support/cli.ts";
import { useTestDatabase } from "../support/database.ts";
import { listen } from "../support/listen.ts";
import { findProgram } from "../support/programs.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const database = useTestDatabase();
const directory = temporaryDirectory(afterAll);

beforeAll(async () => {
  // The last two are not offered.
  const names = ["forest", "lake", "$(reboot)", "two words, (é) '", 'a "b"', "a%b", "\u001b[31m"];
  const crowd = Array.from({ length: 1_000 }, (_, index) => ({ owner: "crowd", library_name: `${index}` }));
  const rows = [
    ...names.map((library_name) => ({ library_name })),
    ...crowd,
    ...["last", "Été nu"].map((library_name) => ({ owner: "zoe", library_name })),
  ];
  await addRows(database(), "libraries", rows);
  await addRows(database(), "library_sync", rows);
  symlinkSync(MAIN, join(directory, "simcat"));
  for (const shell of ["bash", "zsh", "fish"]) {
    writeFileSync(join(directory, shell), execFileSync(process.execPath, [MAIN, "completion", shell], { env: {} }));
  }
});

/** What the script of a shell offers for the last word. */
const OFFERS: Readonly<Record<string, (words: readonly string[]) => readonly string[]>> = {
  bash: (words) => [
    "-c",
    `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _simcat; eval "printf '%s\\n' \${COMPREPLY[*]}"`,
    join(directory, "bash"),
    ...words,
  ],
  zsh: (words) => [
    "-f",
    "-c",
    `compdef() { }; compadd() { for w in "\${@[2,-1]}"; do [[ "$w" == "\${\${(Q)words[-1]}#\\"}"* ]] && print -r -- "$w"; done }; source "$0"; words=("$@"); CURRENT=$#; _simcat`,
    join(directory, "zsh"),
    ...words,
  ],
  fish: (words) => [
    "-c",
    `source ${join(directory, "fish")}; complete -C '${words.join(" ")}' | string split -f 1 \\t`,
  ],
};

const CASES: readonly (readonly [readonly string[], readonly string[]])[] = [
  [
    ["simcat", "st"],
    ["start", "status"],
  ],
  [["simcat", "--quiet", "expl"], ["explain"]],
  [["simcat", "backfill", "--re"], ["--restart"]],
  [["simcat", "export", "--format", "p"], ["parquet"]],
  [["simcat", "completion", "b"], ["bash"]],
  [["simcat", "report", "--since", ""], []],
  [
    ["simcat", "sync", "--owner", ""],
    ["ann", "crowd", "zoe"],
  ],
  [
    ["simcat", "sync", "--library", "ann/"],
    ["ann/$(reboot)", 'ann/a "b"', "ann/forest", "ann/lake", "ann/two words, (é) '"],
  ],
  [["simcat", "explain", "ann/two\\ w"], ["ann/two words, (é) '"]],
  [["simcat", "explain", "zoe/l"], ["zoe/last"]],
  // Those of fault 273.
  [["simcat", "explain", "zoe/É"], ["zoe/Été nu"]],
  [["simcat", "explain", '"zoe/l'], ["zoe/last"]],
];

const SHELLS = ["bash", "zsh", "fish"].filter((shell) => findProgram(shell, shell) !== null);

test.each(SHELLS.flatMap((shell) => CASES.map(([words, offered]) => [shell, words, offered] as const)))(
  "in %s, %j is completed with %j",
  async (shell, words, offered) => {
    const environment = {
      PATH: [directory, dirname(process.execPath), process.env.PATH].join(":"),
      HOME: directory,
      DATABASE_URL: database().url,
    };
    const { ended } = startProgram(shell, OFFERS[shell]?.(words) ?? [], environment);
    const { stdout, stderr } = await ended;
    expect(stderr).toBe("");
    expect(
      stdout
        .split("\n")
        .filter((line) => line !== "")
        .sort(),
    ).toEqual([...offered].sort());
  },
);

test.each([
  ["that does not answer", async () => await listen(createServer())],
  ["that cannot be reached", () => 1],
])("a database %s offers no name, and the shell waits at most some seconds", async (_, openPort) => {
  const environment = { DATABASE_URL: `postgres://ann:word@127.0.0.1:${await openPort()}/simcat` };
  const args = [MAIN, "completion", "--library"];
  const { ended } = startProgram(process.execPath, args, environment, { patienceMs: 8_000 });
  expect(await ended).toMatchObject({ code: 69, stdout: "", stderr: expect.not.stringContaining("still open") });
});
