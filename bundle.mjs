/**
 * Bundles the compiled program with its packages into dist/main.js and dist/chunks: a run loads some 50 files instead of 350, and
 * each command starts in two thirds of the time (docs/decisions/0021-bundle.md). Run by `npm run build`.
 */
import { rm } from "node:fs/promises";
import { build } from "esbuild";

await rm("dist/chunks", { recursive: true, force: true });
await build({
  entryPoints: ["dist/main.js"],
  allowOverwrite: true,
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
  legalComments: "none",
  logLevel: "warning",
});
