import type { DriftField } from "../../model.ts";

/** What one scenario list says about the fields that every item should have. */
interface FieldCount {
  readonly items: number;
  readonly present: Readonly<Record<DriftField, number>>;
}

const FIELDS: readonly DriftField[] = ["scenarioName", "isResult", "lastModified"];
/** From so many items on, a field that none of them has is a change of the service, not of the data. */
const TELLING_ITEMS = 20;
/** So many items without it settle the question before the run is over. */
const ENOUGH_ITEMS = 10_000;

/** Watches a run's scenario lists for a field that all of them lack while stored rows have it (the service renamed it). */
export interface DriftWatch {
  /** Counts one list in. */
  count(list: FieldCount): void;
  /** Whether this list must wait: it lacks a field throughout that stored rows have and that no item of the run had so far. */
  isSuspect(list: FieldCount): boolean;
  /** Whether items of the run had every field that stored rows have. A list without items says nothing of it. */
  isRuledOut(): boolean;
  /** Whether enough was read to call it drift without waiting for the end. */
  isCertain(): boolean;
  /** The fields that drifted, judged by all that was counted; empty when too little was read to tell. */
  drifted(): DriftField[];
}

export function watchDrift(storedFields: ReadonlySet<DriftField>): DriftWatch {
  let items = 0;
  const present: Record<DriftField, number> = { scenarioName: 0, isResult: 0, lastModified: 0 };
  const unseen = () => FIELDS.filter((field) => storedFields.has(field) && present[field] === 0);
  return {
    count(list) {
      items += list.items;
      for (const field of FIELDS) present[field] += list.present[field];
    },
    isRuledOut: () => unseen().length === 0,
    isSuspect: (list) => list.items > 0 && unseen().length > 0,
    isCertain: () => items >= ENOUGH_ITEMS && unseen().length > 0,
    drifted: () => (items >= TELLING_ITEMS ? unseen() : []),
  };
}
