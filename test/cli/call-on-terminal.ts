import { printError } from "../../src/cli/notify.ts";
import { runProgram } from "../../src/cli/program.ts";
import { createContext, type Environment } from "../support/call-cli.ts";

/** Runs a command line in this process as on a terminal of this width. Returns the exit code, and what the terminal shows. */
export async function callOnTerminal(
  args: readonly string[],
  environment: Environment,
  { columns = 80, stop }: { readonly columns?: number; readonly stop?: AbortSignal } = {},
): Promise<{ readonly code: number; readonly screen: string }> {
  let screen = "";
  const draw = (text: string) => {
    screen += text;
  };
  const print = (text: string) => draw(`${text}\n`);
  const terminal = { isOut: true, isErr: true, columns, rows: 24 };
  const context = {
    ...createContext({ TERM: "xterm", ...environment }, stop),
    ...{ draw, print, note: print, terminal },
  };
  const code = await runProgram(context, args).catch((error: unknown) => printError(context, error));
  // Progress, which the next text overwrites.
  return { code, screen: screen.replaceAll(/\r[^\n\r]*\p{Cc}\[K/gu, "") };
}
