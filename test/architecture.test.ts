import { readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { describe, expect, test } from "vitest";

interface Import {
  /** A path from the project's root, such as `src/model.ts`, or a package's name. */
  readonly target: string;
  readonly isType: boolean;
}

interface Source {
  readonly path: string;
  /** Without comments. */
  readonly code: string;
  readonly imports: readonly Import[];
}

const STATEMENT = /^(?:import|export)\s+(type\s)?(?:[\w$*{},\s]+?\sfrom\s+)?"([^"]+)";?$/gm;
const DYNAMIC = /\bimport\(\s*"([^"]+)"\s*\)/g;

function readSource(path: string): Source {
  const code = withoutComments(readFileSync(path, "utf8"));
  const resolve = (name: string) => (name.startsWith(".") ? normalize(join(path, "..", name)) : name);
  const fixed = [...code.matchAll(STATEMENT)].map(([, type, name = ""]) => ({
    target: resolve(name),
    isType: type !== undefined,
  }));
  const late = [...code.matchAll(DYNAMIC)].map(([, name = ""]) => ({ target: resolve(name), isType: false }));
  return { path, code, imports: [...fixed, ...late] };
}

/** Good enough for this code: within a string, `//` follows a quote or a colon and is therefore kept. */
function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[\s;{(,])\/\/ .*$/gm, "$1");
}

/** The program, and the mock of the tests, which follows some of its rules. */
const sources = ["src", "test/support/mock"]
  .flatMap((room) => readdirSync(room, { recursive: true, encoding: "utf8" }).map((name) => join(room, name)))
  .filter((path) => path.endsWith(".ts"))
  .map(readSource)
  .sort((a, b) => (a.path < b.path ? -1 : 1));

const isPure = (path: string) => path.startsWith("src/sync/rules/") || path === "src/parse-values.ts";
const under =
  (...rooms: string[]) =>
  (path: string) =>
    rooms.some((room) => path === room || path.startsWith(`${room}/`));

/** `from -> to` for each import of these files that is not allowed. */
function strayImports(of: (path: string) => boolean, isAllowed: (found: Import) => boolean): string[] {
  return sources
    .filter(({ path }) => of(path))
    .flatMap(({ path, imports }) =>
      imports.filter((one) => !isAllowed(one)).map(({ target }) => `${path} -> ${target}`),
    );
}

const isPackage = (name: string, target: string) => target === name || target.startsWith(`${name}/`);
const isOutside = ({ target }: Import) => !target.startsWith("src/");

interface Rule {
  readonly rule: string;
  /** The reason for the rule: the problem that it prevents. */
  readonly reason: string;
  readonly of: (path: string) => boolean;
  readonly allows: (found: Import) => boolean;
}

/** Apart from packages, files of the room import only each other and these. */
const only = (room: string, ...others: string[]): Omit<Rule, "reason"> => ({
  rule: [`${room} imports only itself`, ...others].join(", "),
  of: under(room),
  allows: (found) => isOutside(found) || under(room, ...others)(found.target),
});

/** Small modules without dependencies on a room. */
const SHARED = ["src/async.ts", "src/format.ts", "src/hash.ts", "src/printable.ts", "src/slice.ts", "src/units.ts"];

const RULES: readonly Rule[] = [
  {
    rule: "src/model.ts imports nothing",
    reason: "every module imports the model, so each would load its imports too",
    of: under("src/model.ts"),
    allows: () => false,
  },
  {
    rule: "src/errors.ts imports only types of src/model.ts and src/run-summary.ts",
    reason: "errors are thrown in every module, so every module must be able to import them",
    of: under("src/errors.ts"),
    allows: ({ target, isType }) => isType && under("src/model.ts", "src/run-summary.ts")(target),
  },
  {
    reason:
      "the faults of the service are tested without a database, and its client has other uses; pass in a sink or a callback instead",
    ...only("src/service", "src/off-heap.ts", "src/model.ts", "src/errors.ts", ...SHARED),
  },
  {
    reason: "the meaning of an item does not depend on its transport; the caller passes in the bytes",
    ...only("src/service/wire", "src/off-heap.ts", "src/model.ts", "src/async.ts"),
  },
  {
    reason: "independent code is easier to measure and replace, and this code is the hottest",
    ...only("src/off-heap.ts", "src/model.ts", "src/hash.ts"),
  },
  {
    reason:
      "storage must not depend on the transport; put shared types into the model, and pass decisions in as values or functions",
    ...only(
      "src/db",
      "src/model.ts",
      "src/parse-values.ts",
      "src/run-summary.ts",
      "src/errors.ts",
      "src/key.ts",
      ...SHARED,
    ),
  },
  {
    reason: "it starts a server and does not depend on the stored content",
    ...only("src/embedded-postgres", "src/errors.ts", "src/async.ts"),
  },
  {
    rule: "only src/cli and the tests import src/embedded-postgres and src/mock",
    reason: "the core runs against any Postgres and any service; only a command chooses the bundled ones",
    of: (path) => !under("src/cli", "src/embedded-postgres", "src/mock", "test")(path),
    allows: ({ target }) => !under("src/embedded-postgres", "src/mock")(target),
  },
  {
    rule: "src/sync/rules and src/parse-values.ts depend only on values",
    reason: "decisions are tested with literals and replayed from a seed; pass their inputs as arguments",
    of: isPure,
    allows: ({ target }) =>
      isPure(target) ||
      under(
        "fastest-levenshtein",
        "src/off-heap.ts",
        "src/model.ts",
        "src/run-summary.ts",
        "src/errors.ts",
        "src/key.ts",
        "src/format.ts",
        "src/units.ts",
      )(target),
  },
  {
    rule: "src/mock and test/support/mock share no code with the client",
    reason: "a mock with the client's own encoder or parser would have the same bugs and hide them",
    of: under("src/mock", "test/support/mock"),
    allows: (found) => isOutside(found) || under("src/mock")(found.target),
  },
  {
    reason: "files are made of rows; the command line, its checks and its output belong to the caller",
    ...only("src/export", "src/db", "src/errors.ts", "src/units.ts"),
  },
  {
    rule: "only src/export imports hyparquet-writer",
    reason: "it is the only caller, and it loads the package only for an export to Parquet",
    of: (path) => !under("src/export")(path),
    allows: ({ target }) => !isPackage("hyparquet-writer", target),
  },
  {
    rule: "src/output and src/report send no request and start no run",
    reason: "pages and summaries are built from values that the caller passes in, so types are the only imports needed",
    of: under("src/output", "src/report"),
    allows: ({ target, isType }) => isType || isPure(target) || !under("src/service", "src/sync", "src/verify")(target),
  },
  {
    rule: "only src/service and src/cli/webhook.ts import undici",
    reason: "a single module asks the service, so that the key and the pitfalls of the client are handled in one place",
    of: (path) => path !== "src/cli/webhook.ts" && !under("src/service")(path),
    allows: ({ target }) => !isPackage("undici", target),
  },
  {
    rule: "only src/main.ts and src/cli import src/cli",
    reason: "commands connect the modules; code that a module shares with a command belongs in a module",
    of: (path) => path !== "src/main.ts" && !under("src/cli")(path),
    allows: ({ target }) => !under("src/cli")(target),
  },
];

describe("the import rules", () => {
  test("see the files and their imports", () => {
    const run = sources.find(({ path }) => path === "src/sync/run.ts");
    expect(run?.imports).toContainEqual({ target: "src/db/lease.ts", isType: false });
    const types = sources.find(({ path }) => path === "src/sync/run-types.ts");
    expect(types?.imports).toContainEqual({ target: "src/service/client.ts", isType: true });
    const program = sources.find(({ path }) => path === "src/cli/program.ts");
    expect(program?.imports).toContainEqual({ target: "src/cli/sync.ts", isType: false });
    // Check that every import statement was parsed: their number equals the number of lines that begin one.
    for (const { path, code, imports } of sources) {
      const begun = code.match(/^import\b|^export\b(?=[^\n]*\bfrom "|\s*\*)|\bimport\(\s*"/gm)?.length ?? 0;
      expect(`${path} ${imports.length}`).toBe(`${path} ${begun}`);
    }
  });

  test.each(RULES)("$rule, since $reason", ({ of, allows }) => {
    expect(strayImports(of, allows)).toEqual([]);
  });

  test("only runs, verify, the worker and commands import both service and db, to stay testable with one", () => {
    const both = sources.filter(({ imports }) =>
      ["src/service", "src/db"].every((room) => imports.some(({ target, isType }) => !isType && under(room)(target))),
    );
    const isShell = under("src/sync", "src/verify", "src/worker", "src/cli");
    expect(both.map(({ path }) => path).filter((path) => !isShell(path) || isPure(path))).toEqual([]);
  });
});

const DECLARATION = /^(?:export )?(?:async )?(?:function\*?|const|let|class|interface|type) +(\w+)/gm;

test("no name is declared in two files of src, so that a search for a name finds one meaning", () => {
  const files = new Map<string, Set<string>>();
  for (const { path, code } of sources.filter(({ path }) => path.startsWith("src/"))) {
    for (const [, name = ""] of code.matchAll(DECLARATION)) files.set(name, (files.get(name) ?? new Set()).add(path));
  }
  expect(files.get("runSync")).toEqual(new Set(["src/sync/run.ts"]));
  expect([...files].filter(([, paths]) => paths.size > 1).map(([name, paths]) => [name, ...paths])).toEqual([]);
});

test("pool.query is used only where a role's own date and number settings cannot change the result", () => {
  const past = sources.filter(({ code }) => /\bpool\.query\b/.test(code)).map(({ path }) => path);
  // One query reads a word, three read nothing, one names; the demo drops the schemas of its last tour.
  expect(past).toEqual([
    "src/cli/demo.ts",
    "src/cli/offered-names.ts",
    "src/db/connect.ts",
    "src/db/lease.ts",
    "src/db/read/stream-rows.ts",
  ]);
});
