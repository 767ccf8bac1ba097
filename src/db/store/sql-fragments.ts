/** Fragments of the statements that store rows and keep their earlier versions. */

/** The columns of a row as a list: `i.owner, i.library_name`. */
export const prefixed = (row: string, columns: readonly string[]) =>
  columns.map((column) => `${row}.${column}`).join(", ");

/** SET list for ON CONFLICT DO UPDATE: each column takes its value from `excluded`. */
export const setExcluded = (columns: readonly string[]) =>
  columns.map((column) => `${column} = excluded.${column}`).join(", ");

/** When the version after that of this row begins. Later than its own start, even if the clock stood still or was set back. */
export const nextVersionStart = (row: string) => `greatest(now(), ${row}.changed_at + interval '1 microsecond')`;
