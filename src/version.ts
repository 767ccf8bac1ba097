import { readFileSync } from "node:fs";

/** simcat's own version, from package.json, which stands beside `dist` and `src` alike. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "0.0.0";
}
