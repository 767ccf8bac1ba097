import { expect, test } from "vitest";
import { serve } from "../mock/service.ts";
import { fixture } from "../support/fixture.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import { library } from "../support/organization.ts";
import { expectKeepsFailing, type Failing } from "./failing-content.ts";

const status = (code: number, headers: Record<string, string> = {}): FaultAction => ({
  kind: "status",
  status: code,
  headers,
});

const neighbour =
  (code: string, asked: number | null) =>
  (name: string, operation: Failing["operation"], action: FaultAction | FaultAction[]): Failing => ({
    name,
    operation,
    action,
    code,
    asked,
  });

const refused = neighbour("client_error", 1);
const gone = neighbour("not_found", 1);
const untrusted = neighbour("invalid_response", 1);
const down = neighbour("server_error", 2);
/** The number of attempts depends on other libraries: a 503 uses up no attempt while they succeed. */
const overloaded = neighbour("server_error", null);

test("a library that answers 4xx is asked once, fails, and is read by the next run (faults 13, 14, 16)", async () => {
  await expectKeepsFailing([
    refused("400", "scenarios", status(400)),
    refused("402 on metadata", "metadata", status(402)),
    refused("403", "scenarios", status(403)),
    refused("403 on metadata", "metadata", status(403)),
    gone("404", "scenarios", status(404)),
    gone("404 on metadata", "metadata", status(404)),
    refused("405", "scenarios", status(405)),
    refused("406", "metadata", status(406)),
    refused("409", "scenarios", status(409)),
    gone("410", "scenarios", status(410)),
    gone("410 on metadata", "metadata", status(410)),
    refused("413", "scenarios", status(413)),
    refused("418", "metadata", status(418)),
    refused("422", "scenarios", status(422)),
    refused("423", "metadata", status(423)),
    refused("425", "scenarios", status(425)),
    refused("431", "metadata", status(431)),
    refused("451", "scenarios", status(451)),
    refused("400 that asks to be tried again", "scenarios", status(400, { "retry-after": "0" })),
    refused("403 with the right body", "scenarios", { kind: "status", status: 403, keepBody: true }),
    neighbour("unauthorized", 1)("401 on one library", "scenarios", status(401)),
    neighbour("unauthorized", 1)("401 on one metadata", "metadata", status(401)),
  ]);
});

test("any success other than 200, and any redirect, fails its library (faults 8, 9, 13)", async () => {
  const elsewhere = await serve([library("alice", "Fire")]);
  const to = (code: number): FaultAction => ({ kind: "redirect", status: code, location: `${elsewhere.url}/libs` });

  await expectKeepsFailing([
    untrusted("201", "scenarios", { kind: "status", status: 201, keepBody: true }),
    untrusted("202", "metadata", { kind: "status", status: 202, keepBody: true }),
    untrusted("203", "scenarios", { kind: "status", status: 203, keepBody: true }),
    untrusted("204", "scenarios", status(204)),
    untrusted("204 on metadata", "metadata", status(204)),
    untrusted("205", "scenarios", status(205)),
    untrusted("206", "scenarios", [
      { kind: "headers", set: { "content-range": "bytes 0-100/200" } },
      { kind: "status", status: 206, keepBody: true },
    ]),
    untrusted("207 on metadata", "metadata", { kind: "status", status: 207, keepBody: true }),
    refused("300", "scenarios", to(300)),
    refused("301", "scenarios", to(301)),
    refused("302", "metadata", to(302)),
    refused("303", "scenarios", to(303)),
    refused("304", "scenarios", status(304)),
    refused("305", "metadata", to(305)),
    refused("307", "metadata", to(307)),
    refused("308", "scenarios", to(308)),
    refused("redirect without Location", "scenarios", { kind: "redirect", location: null }),
    refused("redirect to itself", "metadata", { kind: "redirect", location: "" }),
    refused("redirect to no URL", "scenarios", { kind: "redirect", location: "http://[" }),
    refused("redirect to the other path", "scenarios", { kind: "redirect", status: 301, location: "metadata" }),
  ]);

  expect(elsewhere.requests).toEqual([]);
});

test("a library that always answers 5xx fails after the configured attempts; others continue (fault 17)", async () => {
  await expectKeepsFailing([
    down("500", "scenarios", status(500)),
    down("500 on metadata", "metadata", status(500)),
    down("501", "scenarios", status(501)),
    down("502", "scenarios", status(502)),
    overloaded("503", "metadata", status(503)),
    down("504", "scenarios", status(504)),
    down("507", "metadata", status(507)),
    down("511", "scenarios", status(511)),
    down("520", "metadata", status(520)),
    down("599", "scenarios", status(599)),
    down("500 with the right body", "scenarios", { kind: "status", status: 500, keepBody: true }),
    down("500 with an empty list", "scenarios", { kind: "status", status: 500, body: "[]" }),
    overloaded("503 without a body", "metadata", { kind: "status", status: 503, body: "" }),
    neighbour("timeout", 2)("408", "scenarios", status(408)),
    neighbour("timeout", 2)("408 on metadata", "metadata", status(408)),
  ]);
});

test("a status unknown to HTTP fails its library (faults 13, 17)", async () => {
  await expectKeepsFailing([
    untrusted("600", "scenarios", { kind: "status", status: 600, keepBody: true }),
    untrusted("700 on metadata", "metadata", { kind: "status", status: 700, keepBody: true }),
    untrusted("999", "scenarios", { kind: "status", status: 999, keepBody: true }),
  ]);
});

test("5xx followed by success stores the exact rows and counts each retry (fault 17)", async () => {
  const { simcat, query, service } = await fixture([
    library("alice", "a", { scenarios: [1, 2] }),
    library("alice", "b", { scenarios: [3] }),
  ]);
  service.script([
    { match: { operation: "listing" }, action: status(502) },
    { match: { library: "a", operation: "metadata" }, action: status(500) },
    { match: { library: "a", operation: "scenarios" }, action: status(503, { "retry-after": "0" }) },
    { match: { library: "b", operation: "metadata" }, action: status(504) },
    { match: { library: "b", operation: "scenarios" }, action: status(599) },
  ]);

  const { code } = await simcat(["sync"]);

  expect(code).toBe(0);
  expect(await query("SELECT status, retries, requests FROM simcat.sync_runs")).toEqual([
    { status: "ok", retries: 5, requests: 10 },
  ]);
  expect(
    await query("SELECT library_name AS name, scenario_id::int AS id FROM simcat.scenarios ORDER BY 1, 2"),
  ).toEqual([
    { name: "a", id: 1 },
    { name: "a", id: 2 },
    { name: "b", id: 3 },
  ]);
});
