/** Fragments of the statements that store rows and keep their earlier versions. */

/** Column list with the row's name before each column: `i.owner, i.library_name`. */
export const prefixed = (row: string, columns: readonly string[]) =>
  columns.map((column) => `${row}.${column}`).join(", ");

/** SET list for ON CONFLICT DO UPDATE: each column takes its value from `excluded`. */
export const setExcluded = (columns: readonly string[]) =>
  columns.map((column) => `${column} = excluded.${column}`).join(", ");

/** Start of the version that follows this row. It is later than the row's own start, even if the clock stops or is set back. */
export const nextVersionStart = (row: string) => `greatest(now(), ${row}.changed_at + interval '1 microsecond')`;
