import { aborted } from "../async.ts";
import { UsageError } from "../errors.ts";
import { formatLibraries } from "../format.ts";
import { startMockService } from "../mock/mock-service.ts";
import { createOrganization } from "../mock/organization.ts";
import { type DefineCommand, parseDurationOption, wholeNumberUpTo } from "./command.ts";
import { type Context, printText } from "./context.ts";

/** Not a secret: the command prints it. */
export const MOCK_KEY = "mock-key";

export const defineMock: DefineCommand = (command, run) =>
  command
    .option("--port <PORT>", "the port to listen on; 0 selects a free one", wholeNumberUpTo(65_535), 8080)
    // The libraries are generated at the start, and meanwhile no signal stops the process.
    .option("--libraries <COUNT>", "the number of libraries", wholeNumberUpTo(100_000), 200)
    // The scenarios of a library are generated when they are requested.
    .option("--scenarios <COUNT>", "the average number of scenarios in a library", wholeNumberUpTo(1_000_000), 20)
    .option("--seed <NUMBER>", "the same seed generates the same organization", wholeNumberUpTo(2 ** 32 - 1), 1)
    .option("--edit-every <DURATION>", "edit something at this interval, such as 10s")
    .action(run(mock));

type Counts = Readonly<Record<"port" | "libraries" | "scenarios" | "seed", number>>;

async function mock(context: Context, options: Counts & { readonly editEvery?: string }): Promise<void> {
  const { port, libraries, scenarios, seed, editEvery } = options;
  const editEveryMs =
    editEvery === undefined ? null : parseDurationOption("--edit-every", editEvery, "500ms, 10s or 5m");
  const organization = createOrganization({ seed, libraries, scenariosPerLibrary: scenarios, now: new Date() });
  const mocked = { organization, apiKey: MOCK_KEY, port, seed, editEvery: editEveryMs };
  const service = await startMockService(mocked).catch((error) => {
    throw new UsageError(`cannot listen on port ${port} (${error.code})`, {
      hint: "choose another one with --port, or 0 for a free one",
      cause: error,
    });
  });
  try {
    // A key that is set in the environment is masked, so it is printed only if it is not.
    const isKeySet = context.environment.SIMCAT_API_KEY === MOCK_KEY;
    const lines = [
      `a mock of the Simulation Cloud service with ${formatLibraries(libraries)} listens at ${service.url}`,
      editEvery === undefined
        ? "its content does not change (--edit-every 10s would edit it)"
        : `it edits itself every ${editEvery}`,
      "connect simcat to it:",
      `  export SIMCAT_BASE_URL=${service.url}${isKeySet ? "" : ` SIMCAT_API_KEY=${MOCK_KEY}`}`,
      "Ctrl-C stops it",
    ];
    printText(context, lines.join("\n"));
    await aborted(context.stop);
  } finally {
    await service.stop();
  }
}
