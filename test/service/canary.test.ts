import { inspect } from "node:util";
import { expect, it } from "vitest";
import { collect, failureOf, KEY, LIBRARY, never, open, serveRaw } from "./service-under-test.ts";

const echo = `x-echo: ${KEY}\r\n`;

it.each([
  [
    "401 with it in body and headers",
    `HTTP/1.1 401 No\r\n${echo}content-length: 60\r\n\r\n${`{"bad":"${KEY}"}`.padEnd(60)}`,
  ],
  ["404 with it in the body", `HTTP/1.1 404 No\r\ncontent-length: 60\r\n\r\n${`${KEY} ${KEY}`.padEnd(60)}`],
  ["503 with it", `HTTP/1.1 503 No\r\n${echo}content-length: 60\r\n\r\n${KEY.padEnd(60)}`],
  ["a redirect with it", `HTTP/1.1 302 No\r\nlocation: https://[${KEY}\r\ncontent-length: 0\r\n\r\n`],
  ["an unknown encoding of that name", `HTTP/1.1 200 OK\r\ncontent-encoding: ${KEY}\r\ncontent-length: 2\r\n\r\n[]`],
  ["plain text with it", `HTTP/1.1 200 OK\r\ncontent-length: 60\r\n\r\n${KEY.padEnd(60)}`],
  ["an object with it", `HTTP/1.1 200 OK\r\ncontent-length: 60\r\n\r\n${`{"${KEY}":1}`.padEnd(60)}`],
  ["a protocol error with it", `HTTP/1.1 200 OK\r\nx y z ${KEY}: 1\r\n\r\n${KEY}`],
  ["another protocol with it", `HELLO ${KEY}\r\n`],
  ["a cut body with it", `HTTP/1.1 200 OK\r\n${echo}content-length: 500\r\n\r\n[{"${KEY}":1}`],
  ["a bad chunk with it", `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${KEY}\r\n`],
  ["a close", ""],
])("the key does not appear in any error or its hidden fields: %s (fault 104)", async (_, bytes) => {
  const server = await serveRaw((socket) => socket.end(bytes));
  const service = open(server.url, { maxRetries: 1 });
  const errors = await Promise.all([
    failureOf(service.listLibraries(never)),
    failureOf(service.readContent(LIBRARY, collect(), never)),
  ]);
  for (const error of errors) {
    const everything = inspect(error, { depth: 20, showHidden: true, maxStringLength: null });
    expect(everything).not.toContain(KEY);
    expect(everything.toLowerCase()).not.toContain(KEY.toLowerCase());
  }
  expect(inspect(service.events, { depth: 20 })).not.toContain(KEY);
});
