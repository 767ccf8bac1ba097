import type { SchemaState } from "../../db/migrate.ts";
import { formatMissing, hintForMissing, type MissingObjects } from "../../db/missing-objects.ts";
import type { Lack } from "../../db/privileges.ts";
import { EXIT } from "../../errors.ts";
import { plural } from "../../format.ts";
import type { CheckLine } from "../../report/check.ts";
import { fail, ok } from "./lines.ts";

/** Whether a run can work with the schema as it is, or will bring it up to date itself. */
export function judgeSchema(
  state: SchemaState,
  autoMigrate: boolean,
  missing: MissingObjects | null = null,
): CheckLine {
  if (missing !== null && missing.names.length > 0) {
    const text = `version ${state.version}, but the database lacks ${formatMissing(missing)}`;
    return fail("schema", EXIT.configuration, text, hintForMissing(missing));
  }
  if (state.kind === "current") return ok("schema", `version ${state.version}, up to date`);
  if (state.kind === "newer") {
    const text = `version ${state.version} is newer than this simcat: a later one has migrated it`;
    return fail("schema", EXIT.configuration, text, "run that simcat, or a later one");
  }
  const text =
    state.version === 0 ? "none yet" : `version ${state.version}, ${plural(state.missing, "migration")} behind`;
  if (autoMigrate) return ok("schema", `${text}; it will be migrated by the next run`);
  return fail("schema", EXIT.configuration, text, "run simcat migrate (SIMCAT_AUTO_MIGRATE is false)");
}

/** Whether the roles may do what a run does. */
export function judgePrivileges(lacks: readonly Lack[]): CheckLine {
  if (lacks.length === 0) return ok("privileges", "all that a run needs");
  const missing = lacks.map(({ what }) => what).join("; ");
  const hint = lacks.map(({ grant }) => grant).join(" ");
  return fail("privileges", EXIT.databaseFailed, `lacks ${missing}`, hint);
}
