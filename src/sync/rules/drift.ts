import type { ContentRead, DriftField, MetadataField, StoredFields } from "../../model.ts";

/** Shared scenarios of one library that must all have lost a field before that library fails. */
const ENOUGH_SCENARIOS = 3;
/** Items of a run that must all lack a field before the libraries fail that would lose it. */
const ENOUGH_ITEMS = 20;
/** Libraries of a run that must all have lost a metadata field before they fail. */
const ENOUGH_LIBRARIES = 3;

const SCENARIO_FIELDS: readonly DriftField[] = ["scenarioName", "isResult", "lastModified"];

/** A field that stored rows of a library have and that is absent from what was read of it. */
export type LostField =
  | {
      readonly of: "scenarios";
      readonly field: DriftField;
      /** Stored scenarios that have it. */
      readonly count: number;
      /** The read contains those scenarios. False: it contains other scenarios only. */
      readonly isShared: boolean;
    }
  | { readonly of: "metadata"; readonly field: MetadataField };

type Read = Pick<ContentRead, "items" | "present" | "metadata">;

/** Whether the stored rows have to be asked: most reads have every field. */
export function lacksFields({ items, present, metadata }: Read): boolean {
  return SCENARIO_FIELDS.some((field) => present[field] < items) || (metadata?.absent.length ?? 0) > 0;
}

/**
 * Fields that storing this read would lose. This service may leave a field out now and then: a list that contains no
 * known scenario loses the field only if every stored scenario has it.
 */
export function findLostFields({ items, present }: Read, stored: StoredFields): LostField[] {
  const lost: LostField[] = stored.metadata.map((field) => ({ of: "metadata", field }));
  const { scenarios } = stored;
  for (const field of SCENARIO_FIELDS) {
    const { stored: having, shared, kept } = scenarios.fields[field];
    if (shared > 0 && kept === 0) lost.push({ of: "scenarios", field, count: shared, isShared: true });
    const isReplaced = items > 0 && present[field] === 0 && scenarios.shared === 0;
    if (isReplaced && having > 0 && having === scenarios.stored) {
      lost.push({ of: "scenarios", field, count: having, isShared: false });
    }
  }
  return lost;
}

type DriftVerdict =
  | { readonly kind: "store" }
  /** The library itself proves nothing; what the run reads later may. */
  | { readonly kind: "defer" }
  | { readonly kind: "drift"; readonly message: string };

/** Distinguishes a service that changed the shape of its answers from an edit, by all that the run has read so far. */
export interface DriftWatch {
  /** Counts a library; once a run, however often it is read. */
  count(read: Read, isStored: boolean, lost: readonly LostField[]): void;
  /** `isFinal`: the run has read everything else. */
  judge(lost: readonly LostField[], isFinal: boolean): DriftVerdict;
}

export function watchDrift(): DriftWatch {
  let items = 0;
  const present: Record<DriftField, number> = { scenarioName: 0, isResult: 0, lastModified: 0 };
  /** Libraries that were stored before and whose metadata was read, those of them that lack a field, and that lost it. */
  let known = 0;
  const lackedBy = new Map<MetadataField, number>();
  const lostBy = new Map<MetadataField, number>();
  const add = (counts: Map<MetadataField, number>, field: MetadataField) =>
    counts.set(field, (counts.get(field) ?? 0) + 1);

  const explain = (one: LostField, isFinal: boolean): string | "open" | null => {
    if (one.of === "metadata") {
      if (known > (lackedBy.get(one.field) ?? 0)) return null;
      const libraries = lostBy.get(one.field) ?? 0;
      if (!isFinal) return "open";
      if (libraries < ENOUGH_LIBRARIES) return null;
      return `the metadata lacks the field ${one.field}, and so does that of all ${libraries} libraries of this run whose stored metadata has it`;
    }
    const { field, count, isShared } = one;
    if (isShared && count >= ENOUGH_SCENARIOS) {
      return `all ${count} scenarios whose stored rows have the field ${field} lack it now`;
    }
    if (present[field] > 0) return null;
    if (!isFinal) return "open";
    if (items < ENOUGH_ITEMS) return null;
    return `not one of the ${items} scenarios that this run read has the field ${field}, which ${count} stored scenarios of this library have`;
  };

  return {
    count(read, isStored, lost) {
      items += read.items;
      for (const field of SCENARIO_FIELDS) present[field] += read.present[field];
      if (!isStored || read.metadata === null) return;
      known += 1;
      for (const field of read.metadata.absent) add(lackedBy, field);
      for (const one of lost) if (one.of === "metadata") add(lostBy, one.field);
    },
    judge(lost, isFinal) {
      const found = lost.map((one) => explain(one, isFinal));
      const reasons = found.filter((reason) => reason !== null && reason !== "open");
      if (reasons.length > 0) return { kind: "drift", message: `${reasons.join("; ")}. ${ADVICE}` };
      return { kind: found.includes("open") ? "defer" : "store" };
    },
  };
}

const ADVICE =
  "The service seems to have changed the shape of its answers, so nothing of this library was overwritten. Look for a newer simcat; if the field is gone for good, docs/operations.md (Drift) says how to accept it";
