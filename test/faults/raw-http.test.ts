import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { serveRaw } from "../service/service-under-test.ts";
import { runCli } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { lastRun, libraryLogLines } from "./run-results.ts";

const SCENARIOS = '[{"scenarioId":1,"scenarioName":"Base","isResult":false}]';
const METADATA = '{"libraryName":"x"}';

const answer = (body: string, head = ""): string =>
  `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${head}\r\n${body}`;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/** The bytes sent for a library's scenarios, and whether the connection closes afterwards. */
interface Spoken {
  readonly name: string;
  readonly bytes: string;
  readonly then: "keep" | "end";
  /** Null if the library is stored. */
  readonly code: string | null;
}

const spoken = (name: string, bytes: string, code: string | null, then: Spoken["then"] = "end"): Spoken => ({
  name,
  bytes,
  then,
  code,
});

const TABLE: readonly Spoken[] = [
  spoken(
    "early hints before the answer",
    `HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n${answer(SCENARIOS)}`,
    null,
    "keep",
  ),
  spoken(
    "chunks with extensions and trailers",
    `${CHUNKED}${chunk(SCENARIOS).replace("\r\n", ";name=value\r\n")}0\r\nx-trailer: 1\r\n\r\n`,
    null,
    "keep",
  ),
  spoken("chunks of one byte", `${CHUNKED}${[...SCENARIOS].map(chunk).join("")}0\r\n\r\n`, null, "keep"),
  spoken("HTTP/1.0, ended by the close", `HTTP/1.0 200 OK\r\n\r\n${SCENARIOS}`, null),
  spoken("no reason phrase", answer(SCENARIOS).replace("200 OK", "200"), null, "keep"),
  spoken(
    "a header twice",
    answer(SCENARIOS, "date: Mon, 01 Jan 2024 00:00:00 GMT\r\ndate: Mon, 01 Jan 2024 00:00:01 GMT\r\n"),
    null,
    "keep",
  ),
  spoken("bytes behind the announced length", `${answer(SCENARIOS)}garbage`, null),
  spoken("100 that nobody asked for", `HTTP/1.1 100 Continue\r\n\r\n${answer(SCENARIOS)}`, "network"),
  spoken("garbage", "this is not HTTP\r\n\r\n", "network"),
  spoken("nothing but a close", "", "network"),
  spoken("half a head", "HTTP/1.1 200 OK\r\ncontent-le", "network"),
  spoken("a status that is no number", answer(SCENARIOS).replace("200", "abc"), "network"),
  spoken("a header without a colon", answer(SCENARIOS, "no colon here\r\n"), "truncated"),
  spoken("a NUL in a header", answer(SCENARIOS, "x-bad: a\0b\r\n"), "truncated"),
  spoken(
    "a length that is no number",
    answer(SCENARIOS).replace(/content-length: \d+/, "content-length: many"),
    "network",
  ),
  spoken("a negative length", answer(SCENARIOS).replace(/content-length: \d+/, "content-length: -5"), "network"),
  spoken("two lengths that differ", answer(SCENARIOS, "content-length: 3\r\n"), "truncated"),
  spoken("a chunk size that is no number", `${CHUNKED}zz\r\n${SCENARIOS}\r\n0\r\n\r\n`, "network"),
  spoken("a chunk longer than it says", `${CHUNKED}5\r\n${SCENARIOS}\r\n0\r\n\r\n`, "network"),
  spoken("chunks without the last one", `${CHUNKED}${chunk(SCENARIOS)}`, "truncated"),
  spoken("a length of nothing", answer(""), "invalid_response", "keep"),
];

test("unusual HTTP is accepted if the protocol allows it; other answers fail one library (faults 2, 3)", async () => {
  const { query, environment } = await fixture([]);
  const listing = JSON.stringify(
    TABLE.map(({ name }) => ({ libraryName: name, uploadUser: "alice", lastModified: "2023-09-11 at 2:56 PM" })),
  );
  const service = await serveRaw((socket: Socket, target) => {
    const [owner, name, operation] = target.split("/").slice(-3).map(decodeURIComponent);
    const one = owner === "alice" && operation === "scenarios" ? TABLE.find((row) => row.name === name) : undefined;
    if (one === undefined) socket.write(answer(target.endsWith("/libs") ? listing : METADATA));
    else if (one.then === "keep") socket.write(one.bytes, "latin1");
    else socket.end(one.bytes, "latin1");
  });

  const ended = await runCli(["sync"], {
    ...environment,
    SIMCAT_BASE_URL: service.url.href,
    SIMCAT_REQUEST_TIMEOUT: "5s",
  });

  const failing = TABLE.filter(({ code }) => code !== null);
  expect(libraryLogLines(ended)).toEqual(
    failing
      .map(({ name, code }) => ({ owner: "alice", library: name, code }))
      .sort((a, b) => a.library.localeCompare(b.library, "en")),
  );
  expect(ended.code).toBe(2);
  expect(await lastRun(query)).toMatchObject({
    status: "partial",
    libraries_listed: TABLE.length,
    libraries_read: TABLE.length - failing.length,
    libraries_failed: failing.length,
    scenarios_inserted: TABLE.length - failing.length,
  });
  expect(
    (await query<{ name: string }>("SELECT library_name AS name FROM simcat.libraries"))
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(
    TABLE.filter(({ code }) => code === null)
      .map(({ name }) => name)
      .toSorted(),
  );
});
