import { describe, expect, test } from "vitest";
import type { DriftField, FieldComparison, MetadataField } from "../../src/model.ts";
import { explainDrift, findLostFields, isProven, lackedFields, lacksFields } from "../../src/sync/rules/drift.ts";

/** A read of the given number of items, and the number of them that have each field; all by default. */
function read(items: number, present: Partial<Record<DriftField, number>> = {}, absent: readonly MetadataField[] = []) {
  const fields = {
    libraryName: null,
    libraryOwner: null,
    lastModified: null,
    fileSize: null,
    packageName: null,
    packageVersion: null,
    description: null,
  };
  return {
    items,
    present: { scenarioName: items, isResult: items, lastModified: items, ...present },
    metadata: { ...fields, absent, source: "{}" },
  };
}

const NONE = { having: 0, shared: 0, kept: 0 };

function storedNames(stored: number, common: number, counts: Partial<typeof NONE>): FieldComparison {
  return { metadata: [], scenarios: [{ field: "scenarioName", stored, common, ...NONE, ...counts }] };
}

describe("fields that a library would lose", () => {
  test("the stored rows are read only when a field is missing from a read", () => {
    expect(lacksFields(read(3))).toBe(false);
    expect(lacksFields(read(0))).toBe(false);
    expect(lacksFields(read(3, { isResult: 2 }))).toBe(true);
    expect(lacksFields(read(3, {}, ["description"]))).toBe(true);
    expect(lacksFields({ ...read(3), metadata: null })).toBe(false);
  });

  test("only the fields that some item lacks are compared with the stored scenarios", () => {
    expect(lackedFields(read(3, { isResult: 2, lastModified: 0 }))).toEqual(["isResult", "lastModified"]);
    expect(lackedFields(read(3, {}, ["description"]))).toEqual([]);
    const stored: FieldComparison = { metadata: ["description"], scenarios: [] };
    expect(findLostFields(read(3, {}, ["description"]), stored)).toEqual([{ of: "metadata", field: "description" }]);
  });

  test.each([
    ["every shared scenario that had it lacks it", 3, storedNames(5, 4, { having: 3, shared: 2 }), [2, true]],
    ["one that had it has it still", 3, storedNames(5, 4, { having: 3, shared: 2, kept: 1 }), null],
    ["those that had it are gone, others that never had it are there", 3, storedNames(5, 2, { having: 3 }), null],
    ["all are others, and every stored one had it", 3, storedNames(3, 0, { having: 3 }), [3, false]],
    ["all are others, and a stored one lacked it", 3, storedNames(3, 0, { having: 2 }), null],
    ["nothing is stored", 3, storedNames(0, 0, {}), null],
    ["nothing is listed any more", 0, storedNames(3, 0, { having: 3 }), null],
  ])("%s", (_, items, stored, lost) => {
    const expected =
      lost === null ? [] : [{ of: "scenarios", field: "scenarioName", count: lost[0], isShared: lost[1] }];
    expect(findLostFields(read(items, { scenarioName: 0 }), stored)).toEqual(expected);
  });
});

describe("the verdict on a lost field", () => {
  const lost = (count: number, isShared = true) =>
    ({ of: "scenarios", field: "scenarioName", count, isShared }) as const;
  const lostMetadata = { of: "metadata", field: "description" } as const;

  test("three shared scenarios prove drift by themselves", () => {
    expect([lost(3), lost(2), lost(3, false), lostMetadata].map(isProven)).toEqual([true, false, false, false]);
    expect(explainDrift(lost(3), "none")).toBe(
      "the field scenarioName is gone: each scenario whose stored row has it lacks it now (3 stored)",
    );
  });

  test.each([
    ["has", lost(2), null],
    ["has", lostMetadata, null],
    ["lacks", lost(1), "and no other library that was asked still has it"],
    ["lacks", lostMetadata, "and no other library that was asked still has it"],
    ["unclear", lostMetadata, "that may be an edit, but no other library that had it could be compared"],
    ["none", lost(2), null],
    ["none", lost(2, false), null],
    ["none", lost(3, false), "no scenario of the list has it (3 stored)"],
    ["none", lostMetadata, null],
  ] as const)("other libraries: %s, of %o", (testimony, one, says) => {
    const reason = explainDrift(one, testimony);
    if (says === null) expect(reason).toBeNull();
    else expect(reason).toContain(says);
  });
});
