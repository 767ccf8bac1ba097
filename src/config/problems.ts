import { ConfigurationError } from "../errors.ts";
import { redact } from "../secrets.ts";

/** What is wrong with one name of the environment, and what was expected. */
export interface Problem {
  readonly name: string;
  readonly text: string;
}

/** All problems in one message, a line each. A secret that was put where it does not belong is not echoed either. */
export function configurationError(problems: readonly Problem[], secrets: readonly string[]): ConfigurationError {
  const lines = problems.map(({ name, text }) => `  ${name} ${text}`);
  const count = problems.length === 1 ? "one problem" : `${problems.length} problems`;
  return new ConfigurationError(redact([`the configuration has ${count}:`, ...lines].join("\n"), secrets));
}
