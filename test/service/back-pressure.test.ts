import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { ScenarioSink } from "../../src/model.ts";
import { type CollectingSink, collect, LIBRARY, METADATA, never, open, serveRaw } from "./service-under-test.ts";

const CHUNK = 64 * 1024;
const HEAD = "HTTP/1.1 200 OK\r\nconnection: close\r\n";

const listOf = (count: number) =>
  `[${Array.from({ length: count }, (_, i) => `{"scenarioId":${i + 1},"scenarioName":"${"x".repeat(60)}"}`)}]`;

const ITEMS = 1000;

/** An answer with the given total size of head and body; the list is padded with white space. */
function answerOf(framing: "the close" | "a length" | "chunks", bytes: number): string {
  const list = listOf(ITEMS);
  const [before, behind] = {
    "the close": () => [`${HEAD}\r\n`, ""],
    "a length": (room: string) => [`${HEAD}content-length: ${Number.parseInt(room, 16)}\r\n\r\n`, ""],
    chunks: (room: string) => [`${HEAD}transfer-encoding: chunked\r\n\r\n${room}\r\n`, "\r\n0\r\n\r\n"],
  }[framing](toSize(framing, bytes));
  return `${before}${list.slice(0, -1)}${" ".repeat(bytes - `${before}${list}${behind}`.length)}]${behind}`;
}

/** The hexadecimal size of the body of an answer with the given total size. */
function toSize(framing: string, bytes: number): string {
  const around = {
    "a length": `${HEAD}content-length: 123456\r\n\r\n`,
    chunks: `${HEAD}transfer-encoding: chunked\r\n\r\n12345\r\n\r\n0\r\n\r\n`,
  }[framing];
  return (bytes - (around?.length ?? 0)).toString(16).padStart(5, "0");
}

/** Handles each batch slowly, as a slow database does. */
function slow(sink: CollectingSink, ms: number): ScenarioSink {
  const add: ScenarioSink["add"] = async (more) => {
    await sleep(ms);
    await sink.add(more);
  };
  return { ...sink, add };
}

describe("a list whose reader is paused (fault 3)", () => {
  const sizes = [2, 3, 4].flatMap((chunks) => [-1, 0, 1].map((more) => chunks * CHUNK + more));
  const endings = {
    "a FIN behind its last byte": (socket: Socket, answer: string) => socket.end(answer),
    "a FIN that comes while it waits": (socket: Socket, answer: string) => {
      socket.write(answer);
      setTimeout(() => socket.end(), 20);
    },
  };

  it.each(
    (["the close", "a length", "chunks"] as const).flatMap((framing) =>
      Object.keys(endings).map((ending) => [framing, ending as keyof typeof endings] as const),
    ),
  )("and ends by %s, is complete with %s, wherever that falls", async (framing, ending) => {
    const read = async (bytes: number) => {
      const answer = answerOf(framing, bytes);
      expect(answer).toHaveLength(bytes);
      const server = await serveRaw((socket, target) => {
        if (target.endsWith("/scenarios")) endings[ending](socket, answer);
        else socket.end(`${HEAD}\r\n${METADATA}`);
      });
      const sink = collect();
      const { items } = await open(server.url, { maxRetries: 0 }).readContent(LIBRARY, slow(sink, 60), never);
      return { bytes, items, kept: sink.scenarios.size };
    };
    expect(await Promise.all(sizes.map(read))).toEqual(sizes.map((bytes) => ({ bytes, items: ITEMS, kept: ITEMS })));
  });

  it("and whose connection is reset meanwhile, is reported as truncated", async () => {
    const server = await serveRaw((socket, target) => {
      if (!target.endsWith("/scenarios")) return socket.end(`${HEAD}\r\n${METADATA}`);
      socket.write(answerOf("the close", 3 * CHUNK).slice(0, -1));
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
    const service = open(server.url, { maxRetries: 1 });
    await expect(service.readContent(LIBRARY, slow(collect(), 60), never)).rejects.toMatchObject({ code: "truncated" });
    expect(service.counters().retries).toBe(1);
  });

  it("slows its sender down", async () => {
    const items = `${listOf(1000).slice(1, -1)},`;
    let sent = 0;
    const server = await serveRaw(async (socket, target) => {
      if (!target.endsWith("/scenarios")) return socket.end(`${HEAD}\r\n${METADATA}`);
      socket.write(`${HEAD}\r\n[`);
      while (!socket.destroyed) {
        if (!socket.write(items)) await once(socket, "drain").catch(() => {});
        sent += items.length;
      }
    });
    const stop = new AbortController();
    const stuck: ScenarioSink = { ...collect(), add: () => new Promise(() => {}) };
    const read = open(server.url).readContent(LIBRARY, stuck, stop.signal);
    await sleep(300);
    const before = sent;
    await sleep(300);
    expect(sent).toBe(before);
    expect(sent).toBeGreaterThan(CHUNK);
    stop.abort(new Error("enough"));
    await expect(read).rejects.toThrow("enough");
  });
});
