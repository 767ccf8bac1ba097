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

/** Good enough for this code: `//` within a string is kept, since one follows a quote or a colon there. */
function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[\s;{(,])\/\/ .*$/gm, "$1");
}

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readSource(join("src", name)))
  .sort((a, b) => (a.path < b.path ? -1 : 1));

const isPure = (path: string) => path.startsWith("src/sync/rules/");
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
  /** What goes wrong without it. */
  readonly reason: string;
  readonly of: (path: string) => boolean;
  readonly allows: (found: Import) => boolean;
}

const RULES: readonly Rule[] = [
  {
    rule: "src/model.ts imports nothing",
    reason: "every room shares the nouns, so whatever they import every room would drag along",
    of: under("src/model.ts"),
    allows: () => false,
  },
  {
    rule: "src/errors.ts imports types of src/model.ts alone",
    reason: "an error is thrown from everywhere, so it must be importable from everywhere",
    of: under("src/errors.ts"),
    allows: ({ target, isType }) => isType && target === "src/model.ts",
  },
  {
    rule: "src/service knows the model and the errors, and neither database nor runs",
    reason:
      "the service's faults are tested without a database, and its client could be used for another purpose; hand in a sink or a callback instead",
    of: under("src/service"),
    allows: (found) => isOutside(found) || under("src/service", "src/model.ts", "src/errors.ts")(found.target),
  },
  {
    rule: "src/service/wire makes the model of JSON, and knows nothing of HTTP",
    reason: "what an item means does not depend on how its bytes came; whoever asked hands them in",
    of: under("src/service/wire"),
    allows: (found) =>
      isOutside(found) ||
      under(
        "src/service/wire",
        "src/service/json",
        "src/service/compact",
        "src/service/untrusted-answer.ts",
        "src/model.ts",
      )(found.target),
  },
  {
    rule: "src/service/json and src/service/compact know bytes, texts and numbers alone",
    reason: "the hottest code is the easiest to measure and to replace when it stands by itself",
    of: under("src/service/json", "src/service/compact"),
    allows: (found) =>
      isOutside(found) || under("src/service/json", "src/service/compact", "src/model.ts")(found.target),
  },
  {
    rule: "src/db knows nothing of the service or of runs",
    reason:
      "what is stored must not depend on how it was fetched; put what both need into the model, and pass decisions in as values or functions",
    of: under("src/db"),
    allows: (found) =>
      isOutside(found) ||
      under("src/db", "src/model.ts", "src/errors.ts", "src/key.ts", "src/pause.ts", "src/units.ts")(found.target),
  },
  {
    rule: "src/embedded-postgres imports only src/errors.ts",
    reason: "it starts a server and knows nothing of what simcat stores there",
    of: under("src/embedded-postgres"),
    allows: (found) => isOutside(found) || under("src/embedded-postgres", "src/errors.ts")(found.target),
  },
  {
    rule: "only src/cli imports src/embedded-postgres and src/mock",
    reason: "the core runs against any Postgres and any service; a command decides to bring its own",
    of: (path) => !under("src/cli", "src/embedded-postgres", "src/mock")(path),
    allows: ({ target }) => !under("src/embedded-postgres", "src/mock")(target),
  },
  {
    rule: "src/sync/rules knows values alone",
    reason: "decisions are tested with literals and replayed from a seed; give them what they need as arguments",
    of: isPure,
    allows: ({ target }) =>
      isPure(target) || under("src/model.ts", "src/errors.ts", "src/key.ts", "src/units.ts")(target),
  },
  {
    rule: "src/mock shares nothing with what it stands in for",
    reason: "a mock that encodes or reads with the client's own code would share its mistakes and hide them",
    of: under("src/mock"),
    allows: (found) => isOutside(found) || under("src/mock")(found.target),
  },
  {
    rule: "src/report asks no service and starts no run",
    reason: "a page or a summary is made of values; whoever has them hands them in, and types are all it needs to know",
    of: under("src/report"),
    allows: ({ target, isType }) => isType || isPure(target) || !under("src/service", "src/sync", "src/verify")(target),
  },
  {
    rule: "zod stands in src/config and src/service",
    reason:
      "values are checked once, at the doors; behind them types are trusted, and checking again would only cost time",
    of: (path) => !under("src/config", "src/config.ts", "src/service")(path),
    allows: ({ target }) => !isPackage("zod", target),
  },
  {
    rule: "undici stands in src/service",
    reason:
      "one room talks to the service, so that the key goes to one place and the client's traps are known in one place",
    of: (path) => !under("src/service")(path),
    allows: ({ target }) => !isPackage("undici", target),
  },
  {
    rule: "no room beneath the commands imports src/cli",
    reason: "commands wire the rooms together; a room that needs a command's code needs that code in a room",
    of: (path) => path !== "src/main.ts" && !under("src/cli")(path),
    allows: ({ target }) => !under("src/cli")(target),
  },
];

describe("the import rules", () => {
  test("see the files and their imports", () => {
    const run = sources.find(({ path }) => path === "src/sync/run.ts");
    expect(run?.imports).toContainEqual({ target: "src/db/lease.ts", isType: false });
    const prepare = sources.find(({ path }) => path === "src/sync/prepare.ts");
    expect(prepare?.imports).toContainEqual({ target: "src/service/client.ts", isType: true });
    const program = sources.find(({ path }) => path === "src/cli/program.ts");
    expect(program?.imports).toContainEqual({ target: "src/cli/sync.ts", isType: false });
    // Each import statement was understood: as many as lines that begin one.
    for (const { path, code, imports } of sources) {
      const begun = code.match(/^import\b|^export\b(?=[^\n]*\bfrom "|\s*\*)|\bimport\(\s*"/gm)?.length ?? 0;
      expect(`${path} ${imports.length}`).toBe(`${path} ${begun}`);
    }
  });

  test.each(RULES)("$rule, since $reason", ({ of, allows }) => {
    expect(strayImports(of, allows)).toEqual([]);
  });

  test("only runs, verification, the worker and the commands see both service and database, since all else must be testable with one of them", () => {
    const both = sources.filter(({ imports }) =>
      ["src/service", "src/db"].every((room) => imports.some(({ target, isType }) => !isType && under(room)(target))),
    );
    const isShell = under("src/sync", "src/verify", "src/worker", "src/cli");
    expect(both.map(({ path }) => path).filter((path) => !isShell(path) || isPure(path))).toEqual([]);
  });

  test("imports form no circle, types included, since files in a circle can only be read and changed together", () => {
    expect(findCircles()).toEqual([]);
  });
});

/** One line for each import that leads back to a file that is being followed. */
function findCircles(): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const done = new Set<string>();
  const circles: string[] = [];
  const follow = (path: string, trail: readonly string[]) => {
    const at = trail.indexOf(path);
    if (at !== -1) {
      circles.push([...trail.slice(at), path].join(" -> "));
      return;
    }
    if (done.has(path)) return;
    for (const { target } of byPath.get(path)?.imports ?? []) if (byPath.has(target)) follow(target, [...trail, path]);
    done.add(path);
  };
  for (const { path } of sources) follow(path, []);
  return circles;
}

describe("the database", () => {
  test("is asked within transactions but for what cannot be misread, since a role's own settings decide how times and numbers are written elsewhere", () => {
    const past = sources.filter(({ code }) => /\bpool\.query\b/.test(code)).map(({ path }) => path);
    // One asks for a word, two for nothing, one for a number as text; the demo prints what comes, as psql would.
    expect(past).toEqual(["src/cli/demo.ts", "src/db/clock.ts", "src/db/connect.ts", "src/db/lease.ts"]);
  });
});

/** Who may look at the process, and at what of it, besides src/main.ts. */
const PROCESS_EXCEPTIONS: readonly {
  readonly files: (path: string) => boolean;
  readonly members: readonly string[];
  readonly reason: string;
}[] = [
  {
    files: under("src/embedded-postgres"),
    members: ["platform", "arch"],
    reason: "the platform decides which Postgres package fits and how processes are inspected",
  },
  {
    files: under("src/embedded-postgres"),
    members: ["getuid"],
    reason: "Postgres refuses root, so root's server runs as another user, in another directory",
  },
  {
    files: under("src/embedded-postgres"),
    members: ["pid"],
    reason: "locks and registrations name their process, so that those of a killed process can be recognized",
  },
  {
    files: under("src/embedded-postgres/processes.ts", "src/embedded-postgres/postmaster.ts"),
    members: ["kill"],
    reason: "the server is a process that is checked and stopped by signals; never simcat itself",
  },
  {
    files: under("src/sync/run.ts", "src/cli/prune.ts"),
    members: ["pid"],
    reason: "the lease says who holds it, for people",
  },
];

describe("the process", () => {
  test("is src/main.ts's alone but for the listed exceptions, since everything else must run in a test, twice, and end nobody", () => {
    const stray = sources
      .filter(({ path }) => path !== "src/main.ts")
      .flatMap(({ path, code }) => {
        const members = [...code.matchAll(/\bprocess\??\.(\w+)/g)].map(([, member = ""]) => member);
        return members
          .filter((member) => !PROCESS_EXCEPTIONS.some((one) => one.files(path) && one.members.includes(member)))
          .map((member) => `${path}: process.${member}`);
      });
    expect(stray).toEqual([]);
  });

  test("has no exception that is not used", () => {
    const unused = PROCESS_EXCEPTIONS.flatMap(({ files, members }) =>
      members.filter(
        (member) =>
          !sources.some(({ path, code }) => files(path) && new RegExp(`\\bprocess\\.${member}\\b`).test(code)),
      ),
    );
    expect(unused).toEqual([]);
  });

  test("is not reached by another way: node:process, globalThis, or the console", () => {
    const ways = /from "(?:node:)?process"|\bglobalThis\.process\b|\bconsole\.\w+|[=(,:]\s*process\s*[,;)}]/;
    expect(sources.filter(({ code }) => ways.test(code)).map(({ path }) => path)).toEqual([]);
  });
});
