import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Figure } from "../bench.ts";

export interface BenchOrder {
  readonly name: string;
  readonly url: string;
  readonly tiny: boolean;
  readonly rounds: number;
}

/** Runs one bench in its own process, which prints errors to stderr. Throws if it fails. */
export async function runBench(order: BenchOrder): Promise<readonly Figure[]> {
  const program = fileURLToPath(new URL("../one.ts", import.meta.url));
  const child = fork(program, [JSON.stringify(order)], { execArgv: ["--import", import.meta.resolve("tsx")] });
  let figures: readonly Figure[] = [];
  child.on("message", (message: readonly Figure[]) => {
    figures = message;
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`the bench ${order.name} exited with ${code}`);
  return figures;
}
