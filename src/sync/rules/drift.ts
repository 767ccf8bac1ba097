import { formatCount } from "../../format.ts";
import type { DriftField, FieldComparison, MetadataField, ReceivedContent } from "../../model.ts";

/** A library fails if at least this many of its known scenarios had a field and all of them lost it. */
const ENOUGH_SCENARIOS = 3;

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

/** Fields that some item of the read lacks. */
export function lackedFields({ present, items }: Received): DriftField[] {
  return (Object.keys(present) as DriftField[]).filter((field) => present[field] < items);
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
  for (const { field, stored, common, having, shared, kept } of scenarios) {
    if (shared > 0 && kept === 0) lost.push({ of: "scenarios", field, count: shared, isShared: true });
    const isReplaced = items > 0 && present[field] === 0 && common === 0;
    if (isReplaced && having > 0 && having === stored) {
      lost.push({ of: "scenarios", field, count: having, isShared: false });
    }
  }
  return lost;
}

/**
 * What the answers of other libraries show, whose stored rows have a value of the field. `unclear`: none of them could be read,
 * or a cache may have answered. `none`: there is no such library.
 */
export type Testimony = "has" | "lacks" | "unclear" | "none";

/** Whether the library's own scenarios prove drift, whatever other libraries have. */
export function isProven(lost: LostField): boolean {
  return lost.of === "scenarios" && lost.isShared && lost.count >= ENOUGH_SCENARIOS;
}

/** Why a lost field is or may be drift; null if it is an edit. */
export function explainDrift(lost: LostField, testimony: Testimony): string | null {
  if (testimony === "has") return null;
  if (testimony === "lacks") return `${describe(lost)}, and no other library that was asked still has it`;
  if (testimony === "unclear")
    return `${describe(lost)}; that may be an edit, but no other library that had it could be compared`;
  return lost.of === "scenarios" && lost.count >= ENOUGH_SCENARIOS ? describe(lost) : null;
}

function describe(lost: LostField): string {
  if (lost.of === "metadata") return `the metadata lacks the field ${lost.field}, which the stored one has`;
  const which = lost.isShared ? "each scenario whose stored row has it lacks it now" : "no scenario of the list has it";
  return `the field ${lost.field} is gone: ${which} (${formatCount(lost.count)} stored)`;
}

export const DRIFT_ADVICE =
  "Nothing of this library was overwritten, and later runs try again. If the service has changed the shape of its answers, look for a newer simcat; if the field is gone for good, docs/operations.md (Drift) says how to accept it";
