/** The end of what a program said, for an error message. */
export function lastLines(said: string, count = 12): string {
  return (said.trim() || "(nothing)")
    .split("\n")
    .slice(-count)
    .map((line) => `  ${line}`)
    .join("\n");
}
