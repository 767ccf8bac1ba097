import { formatLibraries, plural } from "../format.ts";
import { formatKey } from "../key.ts";
import { printable } from "../printable.ts";
import type { PlannedRun } from "../sync/plan-run.ts";
import type { RemovalVerdict } from "../sync/rules/guard.ts";
import { toSnakeCase } from "./summary.ts";

/** The content of a library takes two requests: metadata and scenarios. */
const contentRequests = ({ plan }: PlannedRun) => 2 * plan.actions.length;

/** A plan for machines: what would be read, skipped and marked as removed, and why. */
export function toPlanJson(planned: PlannedRun, verdict: RemovalVerdict) {
  const { listing, plan } = planned;
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
    requests: storesNothing ? 0 : contentRequests(planned),
    rejects: listing.rejects.map(({ code, path, reason }) => ({ code, path, reason })),
    held: verdict.kind === "held" ? verdict.message : null,
    incomplete: listing.incomplete,
  };
}

/** Libraries or items with one reason are listed up to this number; otherwise only their total is printed. */
const MAX_LISTED = 20;

interface PlannedStep {
  readonly verb: "read" | "remove" | "held" | "reject";
  readonly name: string;
  readonly why: string;
}

/** A plan for people. `isVerbose` lists every library and reject. */
export function formatPlan(planned: PlannedRun, verdict: RemovalVerdict, isVerbose: boolean): string {
  const plan = toPlanJson(planned, verdict);
  const skipped = Object.entries(planned.plan.skipped).filter(([, count]) => count > 0);
  const steps: PlannedStep[] = plan.read.map(({ owner, library, reason, write }) => ({
    verb: "read",
    name: printable(formatKey({ owner, name: library })),
    why: `${reason}; ${write}`,
  }));
  const verb = verdict.kind === "held" ? "held" : "remove";
  for (const key of planned.plan.missing)
    if (verb === "held" || verdict.kind === "pass")
      steps.push({ verb, name: printable(formatKey(key)), why: "no longer listed" });
  const rejects = plan.rejects.map(({ reason, code: why }): PlannedStep => {
    return { verb: "reject", name: printable(reason), why };
  });
  const max = isVerbose ? Number.POSITIVE_INFINITY : MAX_LISTED;
  const groups = [...groupSteps(steps), ...groupSteps(rejects)];
  const lines = [
    `dry run: ${formatLibraries(plan.listed)} listed; nothing was written`,
    ...groups.filter(({ verb }) => verb !== "reject").flatMap((group) => formatGroup(group, max)),
    ...skipped.map(([reason, count]) => `  skip    ${formatLibraries(count)}  (${reason})`),
    ...groups.filter(({ verb }) => verb === "reject").flatMap((group) => formatGroup(group, max)),
    ...(plan.incomplete === null ? [] : [`  ${plan.incomplete}; nothing would be marked as removed`]),
    ...(plan.held === null ? [] : [`  held: ${plan.held}`]),
    ...(groups.some(({ names }) => names.length > max) ? ["  simcat sync --dry-run --verbose lists each of them"] : []),
    `a run would send ${plural(plan.requests, "request")} for content, and the requests for the listing`,
  ];
  return lines.join("\n");
}

type StepGroup = Omit<PlannedStep, "name"> & { readonly names: string[] };

/** Groups steps by what is done and why, in the order of their first step. */
function groupSteps(steps: readonly PlannedStep[]): StepGroup[] {
  const groups = new Map<string, StepGroup>();
  for (const { verb, name, why } of steps) {
    const id = `${verb} ${why}`;
    const group = groups.get(id) ?? { verb, why, names: [] };
    groups.set(id, group);
    group.names.push(name);
  }
  return [...groups.values()];
}

function formatGroup({ verb, why, names }: StepGroup, max: number): string[] {
  const total = verb === "reject" ? plural(names.length, "item") : formatLibraries(names.length);
  return (names.length > max ? [total] : names).map((text) => `  ${verb.padEnd(6)}  ${text}  (${why})`);
}
