import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FOLDER = join(ROOT, "deploy/kubernetes");

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Every object of deploy/kubernetes, as YAML 1.1: that is what kubectl reads. */
export function readManifests(): Manifest[] {
  return readdirSync(FOLDER)
    .sort()
    .flatMap((file) =>
      parseAllDocuments(readFileSync(join(FOLDER, file), "utf8"), { version: "1.1" }).map((document) => {
        if (document.errors[0]) throw document.errors[0];
        return document.toJS() as Manifest;
      }),
    );
}

/**
 * The compiler's errors for the manifests as values of the types generated from the Kubernetes API description;
 * a misspelt field is one that the type does not have. Empty when all is well.
 */
export async function checkTypes(manifests: readonly Manifest[]): Promise<string> {
  const cache = join(ROOT, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  // Inside the project, so that the types are found.
  const folder = mkdtempSync(join(cache, "manifests-"));
  try {
    const files = manifests.map((manifest, at) => {
      const file = join(folder, `manifest-${at}.ts`);
      writeFileSync(
        file,
        `import type { ${manifest.kind} } from "kubernetes-types/${moduleOf(manifest)}.js";
export const manifest: ${manifest.kind} = ${JSON.stringify(manifest, null, 2)};
`,
      );
      return file;
    });
    const options = ["--ignoreConfig", "--noEmit", "--strict", "--module", "nodenext", "--types", ""];
    return await new Promise((resolve) => {
      execFile(join(ROOT, "node_modules/.bin/tsc"), [...options, ...files], (error, stdout, stderr) =>
        resolve(stdout + stderr || (error?.message ?? "")),
      );
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const moduleOf = ({ apiVersion }: Manifest) =>
  apiVersion === "v1" ? "core/v1" : apiVersion.replace(/\.k8s\.io\//, "/");
