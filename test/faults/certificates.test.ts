import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CERTIFICATE, CERTIFICATE_KEY, OTHER_HOST } from "../service/certificate.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { lastRun, logLines } from "./run-results.ts";

const SELF_SIGNED = { cert: CERTIFICATE, key: CERTIFICATE_KEY };

/** Returns the path of a file with the certificate; the file is deleted when the test ends. */
function fileOf({ cert }: { readonly cert: string }): string {
  const directory = mkdtempSync(join(tmpdir(), "simcat-certificate-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "authority.pem");
  writeFileSync(path, cert);
  return path;
}

test.each([
  ["of an unknown authority", SELF_SIGNED, {}, "NODE_EXTRA_CA_CERTS"],
  ["of an unknown authority, although http is allowed", SELF_SIGNED, { SIMCAT_ALLOW_HTTP: "true" }, "does not verify"],
  ["of a trusted authority for another host", OTHER_HOST, "trusted", "the certificate does not verify"],
] as const)("a certificate %s fails closed without a request or a retry (fault 20)", async (_, tls, more, says) => {
  const { simcat, call, query, asked } = await fixture([library("alice", "Fire")], { tls });

  const ended =
    more === "trusted" ? await simcat(["sync"], { NODE_EXTRA_CA_CERTS: fileOf(tls) }) : await call(["sync"], more);

  expect(ended.code).toBe(69);
  expect(asked()).toEqual([]);
  expect(await lastRun(query)).toEqual({ status: "source_unavailable" });
  expect(logLines(ended).at(-1)?.code).toBe("source_unavailable");
  expect(ended.stdout).toContain(says);
});

test("a certificate of the authority that NODE_EXTRA_CA_CERTS names is accepted (fault 20)", async () => {
  const { simcat, asked } = await fixture([library("alice", "Fire")], { tls: SELF_SIGNED });

  expect((await simcat(["sync"], { NODE_EXTRA_CA_CERTS: fileOf(SELF_SIGNED) })).code).toBe(0);
  expect(asked()).toHaveLength(3);
});
