import { channel, subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ScenarioSink } from "../../src/model.ts";
import { collect, LIBRARY, METADATA, never, open, serve, serveRaw } from "./service-under-test.ts";

const CHANNEL = "undici:client:sendHeaders";
const ITEMS = 10_000;
const LIST = `[${Array.from({ length: ITEMS }, (_, i) => `{"scenarioId":${i + 1},"scenarioName":"${"x".repeat(60)}"}`)}]`;

/** Changes what undici reports when it sends a request, as another version might, until the test is over. */
function changeReport(change: (report: { socket?: unknown }) => void): void {
  const onReport = (report: unknown) => change(report as { socket?: unknown });
  subscribe(CHANNEL, onReport);
  onTestFinished(() => void unsubscribe(CHANNEL, onReport));
}

function serveList() {
  return serve((request, response) => response.end(request.url?.endsWith("/scenarios") ? LIST : METADATA));
}

/** Reads a list that is longer than one batch into a sink that is slower than the server. */
async function readSlowly(service: ReturnType<typeof open>): Promise<number> {
  const sink = collect();
  const add: ScenarioSink["add"] = async (more) => {
    await sleep(5);
    await sink.add(more);
  };
  await service.readContent(LIBRARY, { ...sink, add }, never);
  return sink.scenarios.size;
}

describe("with the undici of package-lock.json", () => {
  it("a long response is paused without a warning", async () => {
    const service = open((await serveList()).url);
    expect(await readSlowly(service)).toBe(ITEMS);
    expect(service.events.filter(({ kind }) => kind === "warning")).toEqual([]);
  });
});

describe("with an incompatible undici, its own pause is used with one warning,", () => {
  const warning = (reason: string) => ({
    kind: "warning",
    code: "socket_pause_unsupported",
    message: `${reason}, so large responses are paused by undici itself, which can end the process if the server closes the connection meanwhile (nodejs/undici#5360); install the undici version of simcat's package-lock.json`,
  });
  const unreported = warning("undici does not report the socket of a request");
  const differentlyRead = warning("undici does not read sockets by `readable` events");

  it.each([
    [
      "reports no request",
      unreported,
      () => {
        const reports = channel(CHANNEL);
        reports.publish = () => {};
        onTestFinished(() => void Reflect.deleteProperty(reports, "publish"));
      },
    ],
    ["reports no socket", differentlyRead, () => changeReport((report) => Reflect.deleteProperty(report, "socket"))],
    [
      "reads sockets by `data` events",
      differentlyRead,
      () =>
        changeReport((report) => {
          report.socket = { read: () => null, listenerCount: (name: string) => (name === "data" ? 1 : 0) };
        }),
    ],
  ])("if it %s", async (_, expected, change) => {
    change();
    const service = open((await serveList()).url);
    expect([await readSlowly(service), await readSlowly(service)]).toEqual([ITEMS, ITEMS]);
    expect(service.events.filter(({ kind }) => kind === "warning")).toEqual([expected]);
  });

  it("and a slow reader still slows its sender down", async () => {
    changeReport((report) => Reflect.deleteProperty(report, "socket"));
    let sent = 0;
    const server = await serveRaw(async (socket, target) => {
      const head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
      if (!target.endsWith("/scenarios")) return socket.end(`${head}${METADATA}`);
      socket.write(`${head}[`);
      while (!socket.destroyed) {
        if (!socket.write(`${LIST.slice(1, -1)},`)) await once(socket, "drain").catch(() => {});
        sent += LIST.length;
      }
    });
    const stop = new AbortController();
    const stuck: ScenarioSink = { ...collect(), add: () => new Promise(() => {}) };
    const read = open(server.url, { maxBodyBytes: 2 ** 30 }).readContent(LIBRARY, stuck, stop.signal);
    await sleep(300);
    const before = sent;
    await sleep(300);
    expect(sent).toBe(before);
    stop.abort(new Error("enough"));
    await expect(read).rejects.toThrow("enough");
  });
});
