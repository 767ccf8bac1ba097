import type { LibraryContent } from "../../model.ts";
import type { Parameters } from "../statement.ts";
import { int4Array } from "./binary-arrays.ts";
import { keyArrays, scenarioColumns, toArrays } from "./columns.ts";
import type { SaveContext } from "./save-context.ts";
import type { Source } from "./scenario-statements.ts";

/** Libraries whose scenarios are in one source, and the parameters of the statements that store them. */
export interface ScenarioBatch {
  readonly libraries: readonly LibraryContent[];
  readonly source: Source;
  readonly parameters: Parameters;
}

/** A batch is either one library with a staged list, or libraries whose lists are in memory. */
export function toScenarioBatch(libraries: readonly LibraryContent[], context: SaveContext): ScenarioBatch {
  const keys = { ...keyArrays(libraries.map(({ listed }) => listed.key)), run_id: context.runId };
  const first = libraries[0]?.scenarios;
  if (first?.kind === "staged") {
    return { libraries, source: "staging", parameters: { ...keys, stage: first.stage } };
  }
  const lists = libraries.map(({ scenarios }) => (scenarios.kind === "memory" ? scenarios.scenarios : []));
  const ord = int4Array(lists.flatMap((list, index) => list.map(() => index + 1)));
  const arrays = toArrays(scenarioColumns, lists.flat(), context);
  return { libraries, source: "arrays", parameters: { ...keys, ord, ...arrays } };
}
