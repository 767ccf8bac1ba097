import { createServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { checkDatabase } from "../../src/cli/check/check-database.ts";
import { checkService } from "../../src/cli/check/check-service.ts";
import { status } from "../../src/cli/status.ts";
import { createContext } from "../support/call-cli.ts";

const TERMINAL = { isOut: false, isErr: true, columns: 80, rows: 24 };

/** Accepts connections and never answers. */
async function silentServer(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return `postgres://user@127.0.0.1:${typeof address === "object" ? address?.port : 0}/db`;
}

test("a terminal shows a line while simcat waits for the database (fault 96)", async () => {
  const stop = new AbortController();
  const note = vi.fn();
  const draw = vi.fn();
  const context = {
    ...createContext({ DATABASE_URL: await silentServer() }, stop.signal),
    terminal: TERMINAL,
    note,
    draw,
  };
  const running = status(context, { json: false });
  const ended = expect(running).rejects.toThrow("enough");

  await vi.waitFor(() => expect(note).toHaveBeenCalled(), { timeout: 8_000 });
  stop.abort(new Error("enough"));
  await ended;

  expect(note.mock.calls).toEqual([["waiting for the database: no answer yet"]]);
  expect(draw.mock.calls).toEqual([["\r\x1b[K"]]);
});

test("a terminal shows a line while simcat waits for the service (fault 149)", async () => {
  const stop = new AbortController();
  const draw = vi.fn();
  const url = (await silentServer()).replace(/^postgres:\/\/user@(.*)\/db$/, "http://$1/");
  const environment = { SIMCAT_BASE_URL: url, SIMCAT_API_KEY: "a-key-of-16-chars" };
  const running = checkService({ ...createContext(environment, stop.signal), terminal: TERMINAL, draw });
  const ended = expect(running).rejects.toThrow("enough");

  const wait = expect.stringMatching(/^\rwaiting for the service: no complete answer for \d\.\d s/);
  await vi.waitFor(() => expect(draw).toHaveBeenCalledWith(wait), { timeout: 8_000 });
  stop.abort(new Error("enough"));
  await ended;

  expect(draw).toHaveBeenLastCalledWith("\r\x1b[K");
});

test("a terminal shows a line while check waits for the database (fault 96)", async () => {
  const stop = new AbortController();
  const note = vi.fn();
  const environment = { DATABASE_URL: await silentServer() };
  const running = checkDatabase({ ...createContext(environment, stop.signal), terminal: TERMINAL, note });
  const ended = expect(running).rejects.toThrow("enough");

  await vi.waitFor(() => expect(note).toHaveBeenCalled(), { timeout: 8_000 });
  stop.abort(new Error("enough"));
  await ended;

  expect(note.mock.calls).toEqual([["waiting for the database: asking the database, 1.0 s so far"]]);
});
