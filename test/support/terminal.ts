import { MAIN, startProgram } from "./cli.ts";

/** Runs the built CLI on a pseudo-terminal of this width. Returns the exit code, and all that the terminal received. */
export async function runOnTerminal(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  columns = 80,
): Promise<{ readonly code: number | null; readonly screen: string }> {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(" ");
  const running = startProgram("script", ["-qec", `stty cols ${columns} rows 24; ${command}`, "/dev/null"], {
    TERM: "xterm",
    ...environment,
  });
  const { code, stdout } = await running.ended;
  return { code, screen: stdout.replaceAll("\r\n", "\n") };
}
