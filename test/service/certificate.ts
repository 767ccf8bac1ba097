import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A file with a certificate and its key, both made for these tests: valid until 2120, trusted by no system. */
function readCertificate(file: string) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const pem = readFileSync(path, "utf8");
  return { path, cert: pem, key: pem };
}

/** For 127.0.0.1, localhost and service.test. */
export const OWN_HOST = readCertificate("own-host.pem");
/** For other.test. */
export const OTHER_HOST = readCertificate("other-host.pem");
