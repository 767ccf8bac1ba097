import { execFile } from "node:child_process";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer } from "node:net";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { ConfigurationError, SourceUnavailableError } from "../../src/errors.ts";
import { listen } from "../support/listen.ts";
import { OWN_HOST } from "./certificate.ts";
import { collect, failureOf, KEY, LIBRARY, LISTING, never, open, serve, serveWell } from "./service-under-test.ts";

const CLIENT = new URL("../../src/service/client.ts", import.meta.url).href;

/** Lists in a separate process with its own environment; returns its output. */
async function listElsewhere(url: URL, environment: Record<string, string>): Promise<string> {
  const script = `
    import { openService } from ${JSON.stringify(CLIENT)};
    const service = openService({
      baseUrl: new URL(${JSON.stringify(url.href)}), apiKey: ${JSON.stringify(KEY)}, defaultOwner: null, concurrency: 2,
      maxRps: null, requestTimeoutMs: 10000, maxRetries: 0, maxRetryWaitMs: 1000, maxBodyBytes: 1000000,
      version: "1", environment: process.env, mask: (text) => text,
    });
    const signal = new AbortController().signal;
    const { libraries } = await service.listLibraries(signal);
    await service.close();
    console.log(libraries.length, "listed");`;
  const args = ["--import", "tsx", "--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...environment } });
  return stdout.trim();
}

/** A proxy that forwards everything to one port and records its requests. */
async function serveProxy(port: number) {
  const asked: string[] = [];
  const proxy = createHttpServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end(LISTING);
  });
  proxy.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url} ${request.headers["proxy-authorization"] ?? ""}`.trim());
    expect(request.headers["x-ss-api-key"]).toBeUndefined();
    const onward = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    socket.on("error", () => onward.destroy());
    onward.on("error", () => socket.destroy());
  });
  return { asked, port: await listen(proxy) };
}

const serveTls = () => serve((_, response) => response.end(LISTING), { tls: true });

it("an https URL of a server without TLS fails with the reason, not with OpenSSL's source files", async () => {
  const { port } = await serveWell();
  const error = await failureOf(open(new URL(`https://127.0.0.1:${port}/`), { maxRetries: 0 }).listLibraries(never));
  expect(error.message).toContain("libs; TLS: wrong version number); the service is down or the base URL");
});

describe("a proxy", () => {
  const https = new URL("https://service.test/v1/");

  it("named by HTTPS_PROXY forwards encrypted requests without seeing the key", async () => {
    const server = await serveTls();
    const proxy = await serveProxy(server.port);
    const environment = {
      NODE_EXTRA_CA_CERTS: OWN_HOST.path,
      HTTPS_PROXY: `http://user:pa%20ss@127.0.0.1:${proxy.port}`,
    };
    expect(await listElsewhere(https, environment)).toBe("1 listed");
    expect(proxy.asked).toEqual([`CONNECT service.test:443 Basic ${btoa("user:pa ss")}`]);
    expect(server.targets).toEqual(["/v1/libs"]);
  });

  it("does not weaken the verification of the certificate (fault 20)", async () => {
    const server = await serveTls();
    const proxy = await serveProxy(server.port);
    const service = open(https, { environment: { https_proxy: `127.0.0.1:${proxy.port}` } });
    const error = await failureOf(service.listLibraries(never));
    expect(error.message).toContain("the certificate does not verify");
    expect(service.counters().requests).toBe(1);
    expect(server.targets).toEqual([]);
  });

  it("named by HTTP_PROXY receives the absolute URL", async () => {
    const proxy = await serveProxy(0);
    const service = open(new URL("http://service.test/v1/"), {
      environment: { http_proxy: `http://127.0.0.1:${proxy.port}` },
    });
    expect((await service.listLibraries(never)).libraries).toHaveLength(1);
    expect(proxy.asked).toEqual(["GET http://service.test/v1/libs"]);
  });

  it.each([
    ["NO_PROXY is service.test", { NO_PROXY: "service.test" }, "HTTPS_PROXY"],
    ["NO_PROXY is .test", { NO_PROXY: ".test" }, "HTTPS_PROXY"],
    ["NO_PROXY is *", { NO_PROXY: "*" }, "HTTPS_PROXY"],
    ["NO_PROXY is other.test, service.test:443", { NO_PROXY: "other.test, service.test:443" }, "HTTPS_PROXY"],
    ["the URL is https", {}, "HTTP_PROXY"],
  ])("is not used if %s: %j, %s", async (_, noProxy, variable) => {
    const proxy = await serveProxy(0);
    const environment = { [variable]: `http://127.0.0.1:${proxy.port}`, ...noProxy };
    const service = open(https, { environment, maxRetries: 0 });
    expect(await failureOf(service.listLibraries(never))).toBeInstanceOf(SourceUnavailableError);
    expect(proxy.asked).toEqual([]);
  });

  it("is bypassed for loopback hosts", async () => {
    const proxy = await serveProxy(0);
    const server = await serveWell();
    const environment = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    await open(server.url, { environment }).listLibraries(never);
    await open(new URL(`http://localhost:${server.port}/`), { environment }).listLibraries(never);
    expect(proxy.asked).toEqual([]);
    expect(server.targets).toHaveLength(2);
  });

  /** A proxy that answers every request with one status; its URL has a user and a password. */
  async function serveRefusal(status: number): Promise<string> {
    const proxy = createHttpServer((_, response) => {
      response.writeHead(status).end();
    });
    proxy.on("connect", (_, socket) => socket.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\n\r\n`));
    return `http://user:secret@127.0.0.1:${await listen(proxy)}`;
  }

  it.each([
    [401, 1],
    [403, 1],
    [407, 1],
    [502, 2],
    [503, 2],
  ])("that answers %i to CONNECT is named after %i attempts (fault 24)", async (status, attempts) => {
    const HTTPS_PROXY = await serveRefusal(status);
    const service = open(https, { environment: { HTTPS_PROXY }, maxRetries: 1 });
    const error = await failureOf(service.listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toBe(
      `GET /libs failed at the proxy ${new URL(HTTPS_PROXY).host}${attempts > 1 ? " after 2 attempts" : ""} ` +
        `(asked ${https}libs through HTTPS_PROXY; it answered ${status} to CONNECT); ` +
        "the service was not asked; check HTTPS_PROXY",
    );
    expect(service.counters().requests).toBe(attempts);
    const content = await failureOf(service.readContent(LIBRARY, collect(), never));
    expect(content).toMatchObject({ code: "network" });
    expect(content.message).toContain("the service was not asked; check HTTPS_PROXY");
  });

  it.each([
    [407, "failed at the proxy", "; it answered 407); the service was not asked; check HTTP_PROXY"],
    [502, "answered 502", "); the service is down or the base URL http://service.test/v1/ is wrong"],
  ])("that answers %i to an absolute URL is named with the answer (fault 24)", async (status, summary, hint) => {
    const environment = { HTTP_PROXY: await serveRefusal(status) };
    const service = open(new URL("http://service.test/v1/"), { environment, maxRetries: 0 });
    const error = await failureOf(service.listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toBe(`GET /libs ${summary} (asked http://service.test/v1/libs through HTTP_PROXY${hint}`);
  });

  it.each([
    ["https", "127.0.0.1:1", "connect ECONNREFUSED 127.0.0.1:1"],
    ["http", "127.0.0.1:1", "connect ECONNREFUSED 127.0.0.1:1"],
    ["https", "nobody.invalid:3128", "nobody.invalid"],
    ["http", "nobody.invalid:3128", "nobody.invalid"],
  ])("of %s that cannot be reached at %s is named and retried (fault 24)", async (protocol, host, said) => {
    const variable = `${protocol.toUpperCase()}_PROXY`;
    const environment = { [variable]: `http://user:secret@${host}` };
    const service = open(new URL(`${protocol}://service.test/v1/`), { environment, maxRetries: 1 });
    const error = await failureOf(service.listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toContain(`GET /libs failed at the proxy ${host} after 2 attempts (asked ${protocol}://`);
    expect(error.message).toContain(`through ${variable}; `);
    expect(error.message).toContain(said);
    expect(error.message).toMatch(new RegExp(`; the service was not asked; check ${variable}$`));
    expect(error.message).not.toContain("secret");
  });

  it("that accepts and never answers is named when the deadline expires (fault 24)", async () => {
    const HTTPS_PROXY = `http://127.0.0.1:${await listen(createServer((socket) => socket.on("error", () => {})))}`;
    const service = open(https, { environment: { HTTPS_PROXY }, maxRetries: 0, requestTimeoutMs: 100 });
    const error = await failureOf(service.listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toMatch(/; check HTTPS_PROXY$/);
  });

  it("that is not a URL is reported only by the name of its variable (fault 104)", () => {
    const wrong = () => open(https, { environment: { HTTPS_PROXY: "http://user:secret@:x" } });
    expect(wrong).toThrow(ConfigurationError);
    expect(wrong).toThrow("HTTPS_PROXY is not a valid proxy URL");
  });
});
