import { createServer } from "node:net";
import { expect, type Mock, test, vi } from "vitest";
import { checkDatabase } from "../../src/cli/check/check-database.ts";
import { checkService } from "../../src/cli/check/check-service.ts";
import type { Context } from "../../src/cli/context.ts";
import { status } from "../../src/cli/status.ts";
import { createContext, type Environment } from "../support/call-cli.ts";
import { listen } from "../support/listen.ts";

const TERMINAL = { isOut: false, isErr: true, columns: 80, rows: 24 };

/** Runs a command on a terminal until it has shown that it waits, and then stops it. */
async function stopWaiting(
  environment: Environment,
  run: (context: Context) => Promise<unknown>,
  hasShown: (shown: { note: Mock; draw: Mock }) => void,
) {
  const stop = new AbortController();
  const shown = { note: vi.fn(), draw: vi.fn() };
  const running = run({ ...createContext(environment, stop.signal), terminal: TERMINAL, ...shown });
  const ended = expect(running).rejects.toThrow("enough");
  await vi.waitFor(() => hasShown(shown), { timeout: 8_000 });
  stop.abort(new Error("enough"));
  await ended;
  return shown;
}

test.each([
  ["simcat", (context: Context) => status(context, { json: false }), "waiting for the database: no answer yet"],
  ["check", checkDatabase, "waiting for the database: asking the database, 1.0 s so far"],
])("a terminal shows a line while %s waits for the database (fault 96)", async (_, run, line) => {
  const environment = { DATABASE_URL: `postgres://user@127.0.0.1:${await listen(createServer())}/db` };
  const { note, draw } = await stopWaiting(environment, run, ({ note }) => expect(note).toHaveBeenCalled());
  expect(note.mock.calls).toEqual([[line]]);
  expect(draw.mock.calls).toEqual([["\r\x1b[K"]]);
});

test("a terminal shows a line while simcat waits for the service (fault 149)", async () => {
  const url = `http://127.0.0.1:${await listen(createServer())}/`;
  const environment = { SIMCAT_BASE_URL: url, SIMCAT_API_KEY: "a-key-of-16-chars" };
  const wait = expect.stringMatching(/^\rwaiting for the service: no complete answer for \d\.\d s/);
  const { draw } = await stopWaiting(environment, checkService, ({ draw }) => expect(draw).toHaveBeenCalledWith(wait));
  expect(draw).toHaveBeenLastCalledWith("\r\x1b[K");
});
