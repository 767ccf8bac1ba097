/** What the bundle contains of other people's packages: the texts of their licenses, and a bill of materials. Both follow from esbuild's metafile. */
import { readdirSync, readFileSync } from "node:fs";

const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const LICENSE_FILE = /^(licen[cs]e|copying|notice)(\.\w+)?$/i;

/** The license of packages that have no file of it: the last section of their README, or the same text in another package. */
const LICENSE_ELSEWHERE = {
  "drizzle-orm": "node_modules/@opentelemetry/api/LICENSE",
  "pg-types": "node_modules/pg-types/README.md",
  pgpass: "node_modules/pgpass/README.md",
};

const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

/**
 * The packages with code in the outputs of a build, by name and version.
 * @throws if the license of one is not known
 */
export function listPackages({ outputs }) {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const directories = inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 && PACKAGE.exec(path)) || []);
  return [...new Set(directories)].map(readPackage).sort((a, b) => (a.purl < b.purl ? -1 : 1));
}

function readPackage(directory) {
  const { name, version, license } = readJson(`${directory}/package.json`);
  const text = readLicense(directory, name);
  if (typeof license !== "string" || text === "") throw new Error(`${directory} is bundled and has no license text`);
  return { name, version, license, text, purl: `pkg:npm/${name.replace("@", "%40")}@${version}` };
}

function readLicense(directory, name) {
  const files = readdirSync(directory).filter((file) => LICENSE_FILE.test(file));
  if (files.length > 0) return files.map((file) => readFileSync(`${directory}/${file}`, "utf8").trim()).join("\n\n");
  const elsewhere = LICENSE_ELSEWHERE[name];
  if (elsewhere === undefined) return "";
  const text = readFileSync(elsewhere, "utf8");
  return (elsewhere.endsWith(".md") ? (text.split(/^#+ license$/im)[1] ?? "") : text).trim();
}

export function formatNotices(packages) {
  const notices = packages.map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}\n`);
  return ["simcat contains these packages. Their licenses follow.\n", ...notices].join(`\n${"-".repeat(80)}\n\n`);
}

/** A bill of materials in the form of CycloneDX 1.6, without a time, so that equal builds have equal files. */
export function formatSbom(packages) {
  const { name, version, license } = readJson("package.json");
  const component = (type, { name, version, license, purl }) => ({
    type,
    "bom-ref": purl,
    name,
    version,
    licenses: [{ license: { id: license } }],
    purl,
  });
  const own = component("application", { name, version, license, purl: `pkg:npm/${name}@${version}` });
  const components = packages.map((each) => component("library", each));
  const dependencies = [{ ref: own["bom-ref"], dependsOn: packages.map(({ purl }) => purl) }];
  const bom = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: own },
    components,
    dependencies,
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}
