import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const files = [
  ...["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"],
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)),
].sort();

const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, "").replace(/`[^`\n]*`/g, "");

/** As GitHub makes them of headings. */
function anchorsOf(file: string): Set<string> {
  const headings = readFileSync(file, "utf8")
    .replace(/^```[\s\S]*?^```$/gm, "")
    .matchAll(/^#{1,6} (.+)$/gm);
  return new Set([...headings].map(([, text = ""]) => toAnchor(text)));
}

function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
}

/** Why a link of the file leads nowhere; null when it leads somewhere, or out of the project. */
function findFault(file: string, link: string): string | null {
  if (/^[a-z]+:/i.test(link)) return null;
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? file : normalize(join(dirname(file), decodeURIComponent(path)));
  if (!existsSync(target)) return `${file}: ${link} (no such file)`;
  if (anchor === undefined || !target.endsWith(".md")) return null;
  return anchorsOf(target).has(anchor) ? null : `${file}: ${link} (no such heading)`;
}

test.each(files)("the links of %s lead somewhere", (file) => {
  const links = [...withoutCode(readFileSync(file, "utf8")).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  expect(links.map((link) => findFault(file, link)).filter((fault) => fault !== null)).toEqual([]);
});

test.each(files)("the files that %s names are there", (file) => {
  const named = readFileSync(file, "utf8").matchAll(
    /`((?:src|test|docs|migrations|bench|examples|deploy)\/[\w./-]*)`/g,
  );
  const missing = [...named].map(([, path = ""]) => path).filter((path) => !existsSync(path));
  expect(missing).toEqual([]);
});

test("decisions are numbered without gaps, and named after what they decide", () => {
  const decisions = readdirSync("docs/decisions").sort();
  expect(decisions.map((name) => name.slice(0, 5))).toEqual(
    decisions.map((_, index) => `${String(index + 1).padStart(4, "0")}-`),
  );
  for (const name of decisions) {
    expect(readFileSync(`docs/decisions/${name}`, "utf8")).toMatch(new RegExp(`^# ${name.slice(0, 4)}: .+\n`));
  }
});

test("the index has every document", () => {
  const index = readFileSync("docs/README.md", "utf8");
  const documents = files.filter((file) => /^docs\/(reference\/)?[^/]+\.md$/.test(file) && file !== "docs/README.md");
  expect(documents.filter((file) => !index.includes(`](${file.replace("docs/", "")})`))).toEqual([]);
});
