import type { IncomingHttpHeaders } from "node:http";
import { expect, it } from "vitest";
import type { Scenario } from "../../src/model.ts";
import { collect, KEY, LIBRARY, library, never, open, serveWell, watchRequests } from "./service-under-test.ts";

it("every request is a GET with the key and a user agent, and refuses cached answers", async () => {
  const seen: { method: string | undefined; headers: IncomingHttpHeaders }[] = [];
  const server = await serveWell(({ method, headers }) => {
    seen.push({ method, headers });
    return false;
  });
  const service = open(server.url);
  await service.listLibraries(never);
  await service.readContent(LIBRARY, collect(), never);
  expect(seen).toHaveLength(3);
  for (const { method, headers } of seen) {
    expect(method).toBe("GET");
    expect(headers).toEqual({
      host: `127.0.0.1:${server.port}`,
      connection: "keep-alive",
      "x-ss-api-key": KEY,
      "user-agent": "simcat/1.2.3",
      accept: "application/json",
      "accept-encoding": "gzip",
      "cache-control": "no-cache",
    });
  }
});

it("a connection that an answer has released sends its next request before the answer is parsed", async () => {
  const server = await serveWell();
  const service = open(server.url, { concurrency: 1 });
  const sent: string[] = [];
  watchRequests("undici:client:sendHeaders", server, (path) => sent.push(path.split("/").slice(-2).join(" ")));
  const sentBefore = new Map<string, readonly string[]>();
  const read = (name: string) => {
    const sink = collect();
    const add = async (more: readonly Scenario[]) => {
      sentBefore.set(name, [...sent]);
      await sink.add(more);
    };
    return service.readContent(library(name), { ...sink, add }, never);
  };
  await Promise.all([read("Forest"), read("Lake")]);
  expect(sentBefore.get("Forest")?.map((path) => path.split("/").slice(-2).join(" "))).toEqual([
    "Forest metadata",
    "Forest scenarios",
    "Lake metadata",
  ]);
});
