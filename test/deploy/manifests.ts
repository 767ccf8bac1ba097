import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parseAllDocuments } from "yaml";
import { findFile } from "../support/programs.ts";

const FOLDER = fileURLToPath(new URL("../../deploy/kubernetes", import.meta.url));

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly generateName?: string };
}

/** Parses YAML 1.1, which is what kubectl reads. */
export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text, { version: "1.1" }).map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS() as Manifest;
  });
}

/** Every object of deploy/kubernetes. */
export function readManifests(): Manifest[] {
  return readdirSync(FOLDER)
    .sort()
    .flatMap((file) => parseManifests(readFileSync(join(FOLDER, file), "utf8")));
}

/** The strict JSON schemas of Kubernetes, in which no object may have an unknown field; null where they are not installed. */
export const schemas = findFile("/usr/local/share/kubernetes-schemas/_definitions.json");

// Formats such as int32 are Kubernetes' own, and no schema of it uses one to reject a value.
const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
if (schemas !== null) ajv.addSchema(JSON.parse(readFileSync(schemas, "utf8")), "kubernetes");

/** The differences between the manifests and the published schemas of their kinds. */
export function findSchemaErrors(manifests: readonly Manifest[]): string[] {
  return manifests.flatMap((manifest) => {
    const validate = ajv.getSchema(`kubernetes#/$defs/${schemaOf(manifest)}`);
    if (validate === undefined) return [`${manifest.apiVersion} ${manifest.kind}: unknown`];
    validate(manifest);
    return (validate.errors ?? []).map(({ instancePath, message, params }) =>
      [manifest.kind, instancePath, message, params.additionalProperty].filter(Boolean).join(" "),
    );
  });
}

/** The models of the Prometheus operator, as a module; null where they are not installed. */
export const operatorModels = findFile(
  "/usr/local/share/prometheus-operator/node_modules/@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/index.js",
);

/** The values of a PodMonitor or PrometheusRule that the operator's types forbid. Unknown fields are not noticed. */
export async function findOperatorErrors({ kind, ...object }: Manifest): Promise<string[]> {
  const models = await import(operatorModels ?? "");
  try {
    new models[kind](object).validate();
    return [];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return [`${kind}: ${error.message}`];
  }
}

function schemaOf({ apiVersion, kind }: Manifest): string {
  const [version, group = "core"] = apiVersion.split("/").reverse();
  return `io.k8s.api.${group.replace(".k8s.io", "")}.${version}.${kind}`;
}
