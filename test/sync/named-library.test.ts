import { expect, test } from "vitest";
import { findOtherListed, hasOtherName } from "../../src/sync/rules/named-library.ts";

const KEY = { owner: "ann", name: "Fire" };
const LISTED = ["ann/Fire", "ann/Water", "bob/Fire", "bob/Ice"];
const isListed = ({ owner, name }: { owner: string; name: string }) => LISTED.includes(`${owner}/${name}`);

test.each([
  ["ann", "Fire", null, false],
  [null, null, null, false],
  ["", "", null, false],
  ["Boreal Lab", "Fire", null, false],
  ["Boreal Lab", null, null, false],
  ["bob", "Fire", "bob/Fire", false],
  ["bob", null, "bob/Fire", false],
  ["ann", "Water", "ann/Water", true],
  [null, "Water", "ann/Water", true],
  ["Boreal Lab", "Water", "ann/Water", true],
  ["bob", "Water", "ann/Water", true],
  ["bob", "Ice", "bob/Ice", true],
  ["ann", "Ice", null, true],
  ["ann", "fire", null, true],
  ["ann", "Fire ", null, true],
])(
  "metadata of ann/Fire that names %s and %s: %s is another listed library",
  (libraryOwner, libraryName, other, isOther) => {
    const fields = { lastModified: null, fileSize: null, packageName: null, packageVersion: null, description: null };
    const metadata = { libraryOwner, libraryName, ...fields, absent: [], source: "{}" };
    const found = findOtherListed(metadata, KEY, isListed);
    expect(found && `${found.owner}/${found.name}`).toBe(other);
    expect(hasOtherName(metadata, KEY)).toBe(isOther);
  },
);
