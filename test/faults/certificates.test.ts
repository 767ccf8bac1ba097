import { expect, test } from "vitest";
import { OTHER_HOST, OWN_HOST } from "../service/certificate.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { lastRun, logLines } from "./run-results.ts";

test.each([
  ["of an unknown authority", OWN_HOST, {}, "NODE_EXTRA_CA_CERTS"],
  ["of an unknown authority, although http is allowed", OWN_HOST, { SIMCAT_ALLOW_HTTP: "true" }, "does not verify"],
  ["of a trusted authority for another host", OTHER_HOST, "trusted", "the certificate does not verify"],
] as const)("a certificate %s fails closed without a request or a retry (fault 20)", async (_, tls, more, says) => {
  const { simcat, call, query, asked } = await fixture([library("alice", "Fire")], { tls });

  const ended =
    more === "trusted" ? await simcat(["sync"], { NODE_EXTRA_CA_CERTS: tls.path }) : await call(["sync"], more);

  expect(ended.code).toBe(69);
  expect(asked()).toEqual([]);
  expect(await lastRun(query)).toEqual({ status: "source_unavailable" });
  expect(logLines(ended).at(-1)?.code).toBe("source_unavailable");
  expect(ended.stdout).toContain(says);
});

test("a certificate of the authority that NODE_EXTRA_CA_CERTS names is accepted (fault 20)", async () => {
  const { simcat, asked } = await fixture([library("alice", "Fire")], { tls: OWN_HOST });

  expect((await simcat(["sync"], { NODE_EXTRA_CA_CERTS: OWN_HOST.path })).code).toBe(0);
  expect(asked()).toHaveLength(3);
});
