/** Pieces of the statements that store rows whose earlier versions are kept. */

export const list = (prefix: string, columns: readonly string[]) =>
  columns.map((column) => `${prefix}.${column}`).join(", ");

/** What ON CONFLICT DO UPDATE sets: what the refused row would have had. */
export const takeOver = (columns: readonly string[]) =>
  columns.map((column) => `${column} = excluded.${column}`).join(", ");

/** When the version behind that of this row begins: half-open and never empty, even when the clock stood still or went back. */
export const nextMoment = (row: string) => `greatest(now(), ${row}.changed_at + interval '1 microsecond')`;
