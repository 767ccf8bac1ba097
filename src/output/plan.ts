import { rollup } from "d3-array";
import { formatLibraries, plural } from "../format.ts";
import { formatKey } from "../key.ts";
import { printable } from "../printable.ts";
import type { PlannedRun } from "../sync/plan-run.ts";
import { toSnakeCase } from "./summary.ts";

/** A plan for machines: what would be read, skipped and marked as removed, and why. */
export function toPlanJson({ listing, plan, verdict }: PlannedRun) {
  const storesNothing = verdict.kind === "held" && verdict.rule === "nothing_shared";
  return {
    listed: listing.libraries.length + listing.libraries.elsewhere,
    in_scope: plan.listedInScope,
    read: storesNothing
      ? []
      : Array.from(plan.actions, ({ listed, reason, stored }) => ({
          owner: listed.key.owner,
          library: listed.key.name,
          reason,
          write: stored === null || stored.state === "listed" ? "insert" : "compare and update",
        })),
    skip: toSnakeCase(plan.skipped),
    remove: verdict.kind === "pass" ? plan.missing.map(({ owner, name }) => ({ owner, library: name })) : [],
    missing: plan.missing.length,
    // The content of a library takes two requests: metadata and scenarios.
    requests: storesNothing ? 0 : 2 * plan.actions.length,
    rejects: listing.rejects.map(({ code, path, reason }) => ({ code, path, reason })),
    held: verdict.kind === "held" ? verdict.message : null,
    incomplete: listing.incomplete,
  };
}

/** Libraries or items with one reason are listed up to this number; otherwise only their total is printed. */
const MAX_LISTED = 20;

/** A plan for people. `isVerbose` lists every library and reject. */
export function formatPlan(planned: PlannedRun, isVerbose: boolean): string {
  const plan = toPlanJson(planned);
  const { verdict } = planned;
  const skipped = Object.entries(planned.plan.skipped).filter(([, count]) => count > 0);
  const reads = groupByReason(plan.read, ({ owner, library, reason, write }) => {
    return [formatKey({ owner, name: library }), `${reason}; ${write}`];
  });
  const isMarked = verdict.kind === "held" || verdict.kind === "pass";
  const removals = groupByReason(isMarked ? planned.plan.missing : [], (key) => [formatKey(key), "no longer listed"]);
  const rejects = groupByReason(plan.rejects, ({ reason, code }) => [reason, code]);
  const max = isVerbose ? Number.POSITIVE_INFINITY : MAX_LISTED;
  const format = (verb: string, groups: ReturnType<typeof groupByReason>, total = formatLibraries) =>
    Array.from(groups, ([why, names]) =>
      (names.length > max ? [total(names.length)] : names).map((text) => `  ${verb.padEnd(6)}  ${text}  (${why})`),
    ).flat();
  const isCut = [reads, removals, rejects].some((groups) => [...groups.values()].some((names) => names.length > max));
  const lines = [
    `dry run: ${formatLibraries(plan.listed)} listed; nothing was written`,
    ...format("read", reads),
    ...format(verdict.kind === "held" ? "held" : "remove", removals),
    ...skipped.map(([reason, count]) => `  skip    ${formatLibraries(count)}  (${reason})`),
    ...format("reject", rejects, (count) => plural(count, "item")),
    ...(plan.incomplete === null ? [] : [`  ${plan.incomplete}; nothing would be marked as removed`]),
    ...(plan.held === null ? [] : [`  held: ${plan.held}`]),
    ...(isCut ? ["  with --verbose, each of them is listed"] : []),
    `a run would send ${plural(plan.requests, "request")} for content, and the requests for the listing`,
  ];
  return lines.join("\n");
}

/** The names of the items by reason, in the order of their first item. */
function groupByReason<T>(items: readonly T[], describe: (item: T) => readonly [name: string, why: string]) {
  const printed = (group: ReturnType<typeof describe>[]) => group.map(([name]) => printable(name));
  return rollup(items.map(describe), printed, ([, why]) => why);
}
