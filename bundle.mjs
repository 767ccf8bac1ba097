/**
 * Bundles the compiled program with its packages into dist/program.js and dist/chunks, and makes dist/main.js start them: a run loads some 50 files instead of 350, and
 * each command starts in two thirds of the time (docs/decisions/0021-bundle.md). Run by `npm run build`.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, rm, writeFile } from "node:fs/promises";
import { build } from "esbuild";
import { formatNotices, formatSbom, listPackages } from "./notices.mjs";

/** The commit that is checked out here, or that a build without the repository names in REVISION. Empty if unknown. */
function readCommit() {
  if (existsSync(".git")) return execFileSync("git", ["rev-parse", "--short=7", "HEAD"], { encoding: "utf8" }).trim();
  return /^[0-9a-f]{7}/.exec(process.env.REVISION ?? "")?.[0] ?? "";
}

/** Imports nothing statically, because Node would report a missing chunk as a failure with a stack. */
const LAUNCHER = `#!/usr/bin/env node
try {
  await import("./program.js");
} catch (error) {
  if (error?.code !== "ERR_MODULE_NOT_FOUND" && error?.code !== "ENOENT") throw error;
  console.error(\`simcat: a file of the program is missing; reinstall simcat (\${error.message})\`);
  process.exit(78);
}
`;

await rm("dist/chunks", { recursive: true, force: true });
const { metafile } = await build({
  metafile: true,
  entryPoints: [{ in: "dist/main.js", out: "program" }],
  outdir: "dist",
  // Two levels deep, as the modules of dist are: they find the migrations by a relative path.
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  // Found at run time by `createRequire`, or optional and never installed.
  external: ["node-cron", "pg-native", "cloudflare:sockets"],
  // Packages in CommonJS call `require` for the modules of Node. The alias cannot clash with an import of a module.
  banner: { js: 'import { createRequire as $require } from "node:module"; const require = $require(import.meta.url);' },
  define: { BUILD_COMMIT: JSON.stringify(readCommit()) },
  // notices.mjs writes them.
  legalComments: "none",
  logLevel: "warning",
});
const packages = listPackages(metafile);
await writeFile("dist/THIRD_PARTY_NOTICES", formatNotices(packages));
await writeFile("dist/sbom.cdx.json", formatSbom(packages));
await writeFile("dist/main.js", LAUNCHER);
// Whoever links to the file in a directory of PATH can run it.
await chmod("dist/main.js", 0o755);
