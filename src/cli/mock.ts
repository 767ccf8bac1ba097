import { EXIT, UsageError } from "../errors.ts";
import { createOrganization } from "../mock/organization.ts";
import { startMockService } from "../mock/server.ts";
import { parseDuration } from "../units.ts";
import type { Context } from "./context.ts";
import { untilStopped } from "./until-stopped.ts";

export interface MockOptions {
  readonly port: number;
  readonly libraries: number;
  readonly scenarios: number;
  readonly seed: number;
  readonly editEvery?: string;
}

/** No secret: whoever runs a mock is told it. */
export const MOCK_KEY = "mock-key";

export async function mock(context: Context, options: MockOptions): Promise<number> {
  const { port, libraries, scenarios, seed } = options;
  const editEvery = options.editEvery === undefined ? null : parseDuration(options.editEvery);
  if (options.editEvery !== undefined && editEvery === null) {
    throw new UsageError(`--edit-every ${options.editEvery} is no duration; write it as 500ms, 10s or 5m`);
  }
  const organization = createOrganization({ seed, libraries, scenariosPerLibrary: scenarios, now: new Date() });
  const service = await startMockService({ organization, apiKey: MOCK_KEY, port, seed, editEvery }).catch((error) => {
    throw new UsageError(
      `port ${port} cannot be listened on (${error.code}); choose another with --port, or 0 for a free one`,
    );
  });
  // A key that the environment has is a secret and is not printed.
  const keyAlreadySet = context.environment.SIMCAT_API_KEY === MOCK_KEY;
  context.print(
    [
      `a mock of the Simulation Cloud service with ${libraries} libraries listens at ${service.url}`,
      editEvery === null
        ? "it stays as it is (--edit-every 10s would edit it)"
        : `it edits itself every ${options.editEvery}`,
      "point simcat at it:",
      `  export SIMCAT_BASE_URL=${service.url}${keyAlreadySet ? "" : ` SIMCAT_API_KEY=${MOCK_KEY}`}`,
      "Ctrl-C stops it",
    ].join("\n"),
  );
  await untilStopped(context);
  await service.stop();
  return EXIT.ok;
}
