import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import type { Config } from "../../src/config.ts";
import { ConfigurationError } from "../../src/errors.ts";
import { openHttpServer, type Routes } from "../../src/worker/http-server.ts";

const routes: Routes = {
  "/": async () => ({ body: "as the route says" }),
  "/bad": async () => {
    throw new Error("broken");
  },
};
const LOCAL = { httpHost: "127.0.0.1", httpPort: 0, httpAllowedHosts: null };

async function serve(more: Partial<Config> = {}, onError: (error: unknown) => void = () => {}) {
  const server = await openHttpServer({ ...LOCAL, ...more }, routes, onError);
  onTestFinished(() => server.close());
  return server;
}

test("answers GET and HEAD, with headers that forbid any other use by a browser", async () => {
  const { url } = await serve();
  const get = await fetch(`${url}/?anything=1`);
  expect([get.status, await get.text()]).toEqual([200, "as the route says"]);
  expect(Object.fromEntries(get.headers)).toMatchObject({
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "content-type": "text/plain; charset=utf-8",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
  const head = await fetch(url, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "17", ""]);
});

test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("rejects %s on every path", async (method) => {
  const { url } = await serve();
  for (const path of ["/", "/bad", "/nowhere"]) {
    const { status, headers } = await fetch(url + path, { method });
    expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  }
});

test.each(["/nowhere", "//", "/constructor", "/__proto__", "/healthz/"])("answers 404 for %s", async (path) => {
  const { url } = await serve();
  expect((await fetch(url + path)).status).toBe(404);
});

test("reports a failing route and answers 500 without the reason", async () => {
  const errors: unknown[] = [];
  const { url } = await serve({}, (error) => errors.push(error));
  const answer = await fetch(`${url}/bad`);
  expect([answer.status, await answer.text()]).toEqual([500, ""]);
  expect(errors).toEqual([new Error("broken")]);
});

test("a port in use, or an address of another machine, is a configuration error that names it", async () => {
  const httpPort = Number(new URL((await serve()).url).port);
  await expect(serve({ httpPort })).rejects.toMatchObject({
    exitCode: 78,
    message: expect.stringContaining(`cannot listen on 127.0.0.1 port ${httpPort}: the port is in use`),
  });
  await expect(serve({ httpHost: "192.0.2.1" })).rejects.toThrow(ConfigurationError);
});

async function askAs(host: string, url: string, path = "/"): Promise<{ status: number; body: string }> {
  const asking = request(`${url.replace("0.0.0.0", "127.0.0.1")}${path}`, { headers: { host } });
  asking.end();
  const [response] = await once(asking, "response");
  return { status: response.statusCode, body: await text(response) };
}

test.each(["127.0.0.1", "localhost", "::1", "0.0.0.0"])(
  "on %s it answers addresses, the names of loopback and the allowed names, in any spelling",
  async (host) => {
    const { url } = await serve({ httpHost: host, httpAllowedHosts: ["simcat", "status.example.com"] });
    const addresses = ["127.0.0.1", "[::1]", "[0:0:0:0:0:0:0:1]", "127.0.0.2", "192.0.2.1", "[2001:db8::1]"];
    const names = [...addresses, "localhost", "LocalHost", "localhost.", "simcat", "Status.Example.com."];
    for (const name of [...names, ...names.map((one) => `${one}:${new URL(url).port}`), "localhost:8080", ""]) {
      expect([name, (await askAs(name, url)).status]).toEqual([name, 200]);
    }
  },
);

const FOREIGN = [
  ...["evil.example", "evil.example:9464", "localhost.evil.example", "127.0.0.1.evil.example", "evil.localhost"],
  ...["simcat.evil.example", "localhost@evil.example", "evil.example/localhost", "a b", ":"],
];

test.each(["127.0.0.1", "0.0.0.0"])(
  "on %s it rejects requests to other names, so that no web page can read it (fault 110)",
  async (host) => {
    const { url } = await serve({ httpHost: host, httpAllowedHosts: ["simcat"] });
    for (const name of FOREIGN) {
      for (const path of ["/", "/bad", "/nowhere"]) {
        const { status, body } = await askAs(name, url, path);
        expect([name, path, status]).toEqual([name, path, 421]);
        expect(body).toContain("SIMCAT_HTTP_ALLOWED_HOSTS");
        expect(body).not.toContain("evil");
      }
    }
  },
);

test("answers an HTTP/1.0 request without a Host header", async () => {
  const { url } = await serve();
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write("GET / HTTP/1.0\r\n\r\n");
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
});
