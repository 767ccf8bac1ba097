import type { Context } from "../../src/cli/context.ts";
import { sync } from "../../src/cli/sync.ts";

export type Environment = Readonly<Record<string, string>>;

/** A context that collects standard output. It masks nothing, so that a leaked secret becomes visible. */
export function createContext(environment: Environment): Context & { printed(): string } {
  const out: string[] = [];
  return {
    environment,
    dotenv: new Set(),
    version: "0.0.0",
    build: "0.0.0",
    print: (text) => out.push(text),
    note: () => {},
    draw: () => {},
    terminal: { isOut: false, isErr: true, columns: 80 },
    stop: new AbortController().signal,
    hide: () => {},
    mask: (text) => text,
    invocation: "simcat",
    printed: () => out.join("\n"),
  };
}

/** One run over all libraries. */
export function runSync(environment: Environment): Promise<number> {
  const options = { library: [], owner: [], allowRemovals: false, dryRun: false, json: true };
  return sync(createContext(environment), options);
}
