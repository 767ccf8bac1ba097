/**
 * Bundles the compiled program with its packages into dist/program.js and dist/chunks, and makes dist/main.js start them: a run loads some 50 files instead of 350, and
 * each command starts in two thirds of the time (docs/decisions/0021-bundle.md). Run by `npm run build`.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, rm, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { build } from "esbuild";
import { formatNotices, formatSbom, listPackages } from "./notices.mjs";

/** The commit that is checked out here, or that a build without the repository names in REVISION. Empty if unknown. */
function readCommit() {
  if (existsSync(".git")) return execFileSync("git", ["rev-parse", "--short=7", "HEAD"], { encoding: "utf8" }).trim();
  return /^[0-9a-f]{7}/.exec(process.env.REVISION ?? "")?.[0] ?? "";
}

/**
 * Compares the sizes of all files, because Node reports a missing or truncated one with a stack, and an empty one not at all.
 * Imports the program only then.
 */
const formatLauncher = (outputs) => `#!/usr/bin/env node
import { statSync } from "node:fs";
const sizes = ${JSON.stringify(Object.entries(outputs).map(([file, { bytes }]) => [relative("dist", file), bytes]))};
try {
  for (const [file, bytes] of sizes) {
    if (statSync(new URL(file, import.meta.url)).size !== bytes) throw new SyntaxError(\`\${file} is damaged\`);
  }
  await import("./program.js");
} catch (error) {
  if (error?.code !== "ENOENT" && !(error instanceof SyntaxError)) throw error;
  console.error(\`simcat: a file of the program is missing or damaged; reinstall simcat (\${error.message})\`);
  process.exit(78);
}
`;

/** Leaves what is imported when a command is called to another file. */
const ignoreLater = {
  name: "ignore-later",
  setup: ({ onResolve }) => onResolve({ filter: /./ }, ({ kind }) => ({ external: kind === "dynamic-import" })),
};

/**
 * Writes a file that imports all modules with which every command begins. Injected everywhere, it keeps them in one chunk
 * instead of ten, which saves a tenth of the processor time of `simcat --version`.
 */
async function writeFirstModules() {
  const first = { entryPoints: ["dist/main.js"], bundle: true, platform: "node", format: "esm", write: false };
  const { metafile } = await build({ ...first, metafile: true, plugins: [ignoreLater] });
  const modules = Object.keys(metafile.inputs).filter((path) => path !== "dist/main.js");
  await writeFile("dist/first-modules.js", modules.map((path) => `import "./${relative("dist", path)}";\n`).join(""));
}

await rm("dist/chunks", { recursive: true, force: true });
await writeFirstModules();
const { metafile } = await build({
  metafile: true,
  inject: ["dist/first-modules.js"],
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
await writeFile("dist/main.js", formatLauncher(metafile.outputs));
// Whoever links to the file in a directory of PATH can run it.
await chmod("dist/main.js", 0o755);
