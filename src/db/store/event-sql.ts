/** Parts of the statements that write versions and events. The signed numbers of an owner's events add up to those of live rows. */
import { HISTORY_BEGAN_AT } from "../history-began-at.ts";

/** The columns of an event of a library: it counts the scenarios that were loaded, went or returned with it. */
export const LIBRARY_EVENT = "seen_at, run_id, kind, owner, library_name, service_date, bytes, scenarios, results";

/** The columns of an event of a scenario. */
export const SCENARIO_EVENT =
  "seen_at, run_id, kind, owner, library_name, scenario_id, scenario_name, parent_id, is_result, service_date, bytes, scenarios, results";

/**
 * Whether the first content of a library, with the row `y` of `library_sync`, is initial content: the library was listed when the
 * history began. It is `loaded`, not `added`, whenever it is read first.
 */
export const IS_INITIAL = `(y.first_listed_at <= ${HISTORY_BEGAN_AT}) IS NOT FALSE`;

/** Arrays of the fields in which the row `new` differs from its stored row `old`; NULL if there is none, or if it `is_new`. */
export const differencesSql = (
  fields: readonly string[],
  fieldSql = (field: string, row: string) => `${row}.${field}`,
) => `(
    SELECT array_agg(field) AS fields, array_agg(old_value) AS old_values, array_agg(new_value) AS new_values
    FROM (VALUES ${fields.map((name) => `('${name}', ${fieldSql(name, "(old)")}::text, ${fieldSql(name, "new")}::text)`).join(", ")})
      AS f(field, old_value, new_value)
    WHERE NOT new.is_new AND old_value IS DISTINCT FROM new_value)`;
