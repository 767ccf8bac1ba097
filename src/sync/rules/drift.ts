import type { DriftField, FieldComparison, MetadataField, ReceivedContent } from "../../model.ts";

/** A library fails if at least this many of its known scenarios had a field and all of them lost it. */
const ENOUGH_SCENARIOS = 3;
/** Libraries that would lose a field fail if the run read at least this many items and all of them lack it. */
const ENOUGH_ITEMS = 20;
/** Libraries that lost a metadata field fail if at least this many libraries of the run lost it and none has it. */
const ENOUGH_LIBRARIES = 3;

/** A field that stored rows of a library have and that the read lacks. */
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

type Received = Pick<ReceivedContent, "items" | "present" | "metadata">;

/** The fields that the reader of the list counts. */
const fieldsOf = ({ present }: Pick<Received, "present">) => Object.keys(present) as DriftField[];

/** Fields that some item of the read lacks. */
export function lackedFields(read: Received): DriftField[] {
  return fieldsOf(read).filter((field) => read.present[field] < read.items);
}

/** Whether the read must be compared with the stored rows. Most reads have every field. */
export function lacksFields(read: Received): boolean {
  return lackedFields(read).length > 0 || (read.metadata !== null && read.metadata.absent.length > 0);
}

/**
 * Returns the fields that storing this read would lose. The service may omit a field now and then, so a list without any known
 * scenario loses the field only if every stored scenario has it.
 */
export function findLostFields({ items, present }: Received, { metadata, scenarios }: FieldComparison): LostField[] {
  const lost: LostField[] = metadata.map((field) => ({ of: "metadata", field }));
  for (const { field, stored: having, shared, kept } of scenarios?.fields ?? []) {
    if (shared > 0 && kept === 0) lost.push({ of: "scenarios", field, count: shared, isShared: true });
    const isReplaced = items > 0 && present[field] === 0 && scenarios?.shared === 0;
    if (isReplaced && having > 0 && having === scenarios.stored) {
      lost.push({ of: "scenarios", field, count: having, isShared: false });
    }
  }
  return lost;
}

type DriftVerdict =
  | { readonly kind: "store" }
  /** The library proves nothing by itself; the rest of the run decides. */
  | { readonly kind: "defer" }
  | { readonly kind: "drift"; readonly message: string };

/** Distinguishes a change of the service's answers from an edit, by everything that the run has read so far. */
export interface DriftWatch {
  /** Counts a library. The caller counts it once per run, even if it is read again. */
  count(read: Received, isStored: boolean, lost: readonly LostField[]): void;
  /** `isFinal`: the run has read everything else. */
  judge(lost: readonly LostField[], isFinal: boolean): DriftVerdict;
}

export function watchDrift(): DriftWatch {
  let items = 0;
  /** Items that have the field. */
  const present = new Map<DriftField, number>();
  /** Libraries that were stored before and whose metadata was read. */
  let known = 0;
  /** Those of them that lack the field, and that lost it. */
  const lackedBy = new Map<MetadataField, number>();
  const lostBy = new Map<MetadataField, number>();

  const explain = (lost: LostField, isFinal: boolean): string | "open" | null => {
    if (lost.of === "metadata") {
      if (known > (lackedBy.get(lost.field) ?? 0)) return null;
      const libraries = lostBy.get(lost.field) ?? 0;
      if (!isFinal) return "open";
      if (libraries < ENOUGH_LIBRARIES) return null;
      return `the metadata lacks the field ${lost.field}, and so does that of all ${libraries} libraries of this run whose stored metadata has it`;
    }
    const { field, count, isShared } = lost;
    if (isShared && count >= ENOUGH_SCENARIOS) {
      return `all ${count} scenarios whose stored rows have the field ${field} lack it now`;
    }
    if ((present.get(field) ?? 0) > 0) return null;
    if (!isFinal) return "open";
    if (items < ENOUGH_ITEMS) return null;
    return `not one of the ${items} scenarios that this run read has the field ${field}, which ${count} stored scenarios of this library have`;
  };

  return {
    count(read, isStored, lost) {
      items += read.items;
      for (const field of fieldsOf(read)) add(present, field, read.present[field]);
      if (!isStored || read.metadata === null) return;
      known += 1;
      for (const field of read.metadata.absent) add(lackedBy, field, 1);
      for (const each of lost) if (each.of === "metadata") add(lostBy, each.field, 1);
    },
    judge(lost, isFinal) {
      const found = lost.map((each) => explain(each, isFinal));
      const reasons = found.filter((reason) => reason !== null && reason !== "open");
      if (reasons.length > 0) return { kind: "drift", message: `${reasons.join("; ")}. ${ADVICE}` };
      return { kind: found.includes("open") ? "defer" : "store" };
    },
  };
}

function add<Field>(counts: Map<Field, number>, field: Field, count: number): void {
  counts.set(field, (counts.get(field) ?? 0) + count);
}

const ADVICE =
  "The service seems to have changed the shape of its answers, so nothing of this library was overwritten. Look for a newer simcat; if the field is gone for good, docs/operations.md (Drift) says how to accept it";
