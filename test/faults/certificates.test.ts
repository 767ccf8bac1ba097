import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CERTIFICATE, CERTIFICATE_KEY } from "../service/certificate.ts";
import { type Fixture, fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { EXPIRED, OTHER_HOST, type TestCertificate } from "./certificates.ts";
import { lastRun, logLines } from "./run-results.ts";

const SELF_SIGNED: TestCertificate = { cert: CERTIFICATE, key: CERTIFICATE_KEY };

/** Returns the path of a file with the certificate; the file is deleted when the test ends. */
function fileOf({ cert }: TestCertificate): string {
  const directory = mkdtempSync(join(tmpdir(), "simcat-certificate-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "authority.pem");
  writeFileSync(path, cert);
  return path;
}

async function outcome({ simcat, query, asked }: Fixture, more: Readonly<Record<string, string>>) {
  const ended = await simcat(["sync"], more);
  return {
    code: ended.code,
    asked: asked(),
    run: await lastRun(query),
    log: logLines(ended).at(-1)?.code,
    said: ended.stdout,
  };
}

const FAILED_CLOSED = {
  code: 69,
  asked: [],
  run: { status: "source_unavailable" },
  log: "source_unavailable",
};

test("a certificate of an unknown authority fails closed without a request or a retry (fault 20)", async () => {
  const made = await fixture([library("alice", "Fire")], { tls: SELF_SIGNED });

  const { said, ...unknown } = await outcome(made, {});

  expect(unknown).toEqual(FAILED_CLOSED);
  expect(said).toContain("the certificate does not verify");
  expect(said).toContain("NODE_EXTRA_CA_CERTS");
  const { said: _, ...allowed } = await outcome(made, { SIMCAT_ALLOW_HTTP: "true" });
  expect(allowed).toEqual(FAILED_CLOSED);
});

test("a certificate of the authority that NODE_EXTRA_CA_CERTS names is accepted (fault 20)", async () => {
  const made = await fixture([library("alice", "Fire")], { tls: SELF_SIGNED });

  const { code, asked } = await outcome(made, { NODE_EXTRA_CA_CERTS: fileOf(SELF_SIGNED) });

  expect({ code, asked: asked.length }).toEqual({ code: 0, asked: 3 });
});

test("an expired certificate fails closed even if a trusted authority signed it (fault 20)", async () => {
  const made = await fixture([library("alice", "Fire")], { tls: EXPIRED });

  const { said, ...expired } = await outcome(made, { NODE_EXTRA_CA_CERTS: fileOf(EXPIRED) });

  expect(expired).toEqual(FAILED_CLOSED);
  expect(said).toContain("certificate has expired");
});

test("a certificate of another host fails closed even if a trusted authority signed it (fault 20)", async () => {
  const made = await fixture([library("alice", "Fire")], { tls: OTHER_HOST });

  const { said, ...other } = await outcome(made, { NODE_EXTRA_CA_CERTS: fileOf(OTHER_HOST) });

  expect(other).toEqual(FAILED_CLOSED);
  expect(said).toContain("the certificate does not verify");
});

test("https to a plain-http port sends no request and ends as source_unavailable (fault 20)", async () => {
  const made = await fixture([library("alice", "Fire")]);

  const { said: _, ...plain } = await outcome(made, { SIMCAT_BASE_URL: made.service.url.replace("http:", "https:") });

  expect(plain).toEqual({ ...FAILED_CLOSED, run: { status: "source_unavailable", retries: 1 } });
});
