import { describe, expect, test } from "vitest";
import type { DriftField, FieldComparison, MetadataField } from "../../src/model.ts";
import { findLostFields, lackedFields, lacksFields, watchDrift } from "../../src/sync/rules/drift.ts";

const NAMES: readonly MetadataField[] = [
  "libraryName",
  "libraryOwner",
  "lastModified",
  "fileSize",
  "packageName",
  "packageVersion",
  "description",
];

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

const NONE = { stored: 0, shared: 0, kept: 0 };

function storedNames(stored: number, shared: number, counts: Partial<typeof NONE>): FieldComparison {
  const fields = [{ field: "scenarioName", ...NONE, ...counts }] as const;
  return { metadata: [], scenarios: { stored, shared, fields } };
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
    const stored: FieldComparison = { metadata: ["description"], scenarios: null };
    expect(findLostFields(read(3, {}, ["description"]), stored)).toEqual([{ of: "metadata", field: "description" }]);
  });

  test.each([
    ["every shared scenario that had it lacks it", 3, storedNames(5, 4, { stored: 3, shared: 2 }), [2, true]],
    ["one that had it has it still", 3, storedNames(5, 4, { stored: 3, shared: 2, kept: 1 }), null],
    ["those that had it are gone, others that never had it are there", 3, storedNames(5, 2, { stored: 3 }), null],
    ["all are others, and every stored one had it", 3, storedNames(3, 0, { stored: 3 }), [3, false]],
    ["all are others, and a stored one lacked it", 3, storedNames(3, 0, { stored: 2 }), null],
    ["nothing is stored", 3, storedNames(0, 0, {}), null],
    ["nothing is listed any more", 0, storedNames(3, 0, { stored: 3 }), null],
  ])("%s", (_, items, stored, lost) => {
    const expected =
      lost === null ? [] : [{ of: "scenarios", field: "scenarioName", count: lost[0], isShared: lost[1] }];
    expect(findLostFields(read(items, { scenarioName: 0 }), stored)).toEqual(expected);
  });
});

describe("the verdict of a run on a lost field", () => {
  const lost = (count: number, field: DriftField = "scenarioName", isShared = true) =>
    [{ of: "scenarios", field, count, isShared }] as const;
  const lostMetadata = (field: MetadataField) => [{ of: "metadata", field }] as const;

  test.each(["scenarioName", "isResult", "lastModified"] as const)(
    "three shared scenarios without %s prove drift",
    (field) => {
      const drift = watchDrift();
      drift.count(read(100), true, []);
      expect(drift.judge(lost(3, field), false).kind).toBe("drift");
      expect(drift.judge(lost(2, field), false).kind).toBe("store");
      expect(drift.judge(lost(3, field, false), false).kind).toBe("store");
    },
  );

  test.each(["scenarioName", "isResult", "lastModified"] as const)(
    "twenty items of a run without %s prove drift",
    (field) => {
      const drift = watchDrift();
      drift.count(read(2, { [field]: 0 }), true, lost(2, field));
      expect(drift.judge(lost(2, field), false)).toEqual({ kind: "defer" });
      drift.count(read(17, { [field]: 0 }), false, []);
      expect(drift.judge(lost(2, field), true)).toEqual({ kind: "store" });
      drift.count(read(1, { [field]: 0 }), true, []);
      expect(drift.judge(lost(2, field), true)).toEqual({
        kind: "drift",
        message: expect.stringContaining(
          `not one of the 20 scenarios that this run read has the field ${field}, which 2 stored scenarios of this library have. `,
        ),
      });
      drift.count(read(1), true, []);
      expect(drift.judge(lost(2, field), true)).toEqual({ kind: "store" });
    },
  );

  test.each(NAMES)(
    "three libraries without %s in their metadata prove drift, unless a stored one still has it",
    (field) => {
      const drift = watchDrift();
      const lose = () => drift.count(read(0, {}, [field]), true, lostMetadata(field));
      drift.count(read(0, {}, [field]), true, []);
      drift.count(read(0), false, []);
      drift.count({ ...read(0), metadata: null }, true, []);
      lose();
      expect(drift.judge(lostMetadata(field), false)).toEqual({ kind: "defer" });
      lose();
      expect(drift.judge(lostMetadata(field), true)).toEqual({ kind: "store" });
      lose();
      expect(drift.judge(lostMetadata(field), true).kind).toBe("drift");
      drift.count(read(0), true, []);
      expect(drift.judge(lostMetadata(field), true)).toEqual({ kind: "store" });
    },
  );

  test("one drifted field fails the library, even if other fields are undecided", () => {
    const drift = watchDrift();
    expect(drift.judge([...lostMetadata("description"), ...lost(3)], false)).toEqual({
      kind: "drift",
      message: expect.stringMatching(/^all 3 scenarios whose stored rows have the field scenarioName lack it now\. /),
    });
  });
});
