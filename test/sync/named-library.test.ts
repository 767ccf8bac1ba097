import { expect, test } from "vitest";
import { findOtherListed, hasOtherName, mayBeOther } from "../../src/sync/rules/library-content.ts";

const KEY = { owner: "ann", name: "Fire" };
const LISTED = ["ann/Fire", "ann/Water", "bob/Fire", "bob/Ice"];
const isListed = ({ owner, name }: { owner: string; name: string }) => LISTED.includes(`${owner}/${name}`);

test.each([
  ["ann", "Fire", null, "is"],
  [null, null, null, "is"],
  ["", "", null, "is"],
  ["Boreal Lab", "Fire", null, "is"],
  ["Boreal Lab", null, null, "is"],
  ["bob", "Fire", null, "has a namesake"],
  ["bob", null, null, "has a namesake"],
  ["ann", "Water", "ann/Water", "has another name"],
  [null, "Water", "ann/Water", "has another name"],
  ["Boreal Lab", "Water", "ann/Water", "has another name"],
  ["bob", "Water", "ann/Water", "has another name"],
  ["bob", "Ice", null, "has another name"],
  ["ann", "Ice", null, "has another name"],
  ["ann", "fire", null, "has another name"],
  ["ann", "Fire ", null, "has another name"],
])(
  "metadata of ann/Fire that names %s and %s: %s is listed, the library %s",
  (libraryOwner, libraryName, other, relation) => {
    const fields = { lastModified: null, fileSize: null, packageName: null, packageVersion: null, description: null };
    const metadata = { libraryOwner, libraryName, ...fields, absent: [], source: "{}" };
    const found = findOtherListed(metadata, KEY, isListed);
    expect(found && `${found.owner}/${found.name}`).toBe(other);
    expect(hasOtherName(metadata, KEY)).toBe(relation === "has another name");
    expect(mayBeOther(metadata, KEY, isListed)).toBe(relation !== "is");
  },
);
