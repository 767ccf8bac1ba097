import { plural } from "../format.ts";
import { formatKey } from "../key.ts";
import { printable } from "../printable.ts";
import type { PlannedListing } from "../sync/plan-run.ts";
import type { RemovalVerdict } from "../sync/rules/guard.ts";

/** The content of a library takes two requests: metadata and scenarios. */
const contentRequests = ({ plan }: PlannedListing) => 2 * plan.actions.length;

/** A plan for machines: what would be read, skipped and marked as removed, and why. */
export function toPlanJson(planned: PlannedListing, verdict: RemovalVerdict) {
  const { listing, plan } = planned;
  const storesNothing = verdict.kind === "held" && verdict.rule === "nothing_shared";
  return {
    listed: listing.libraries.length,
    in_scope: plan.listedInScope,
    read: storesNothing
      ? []
      : plan.actions.map(({ listed, reason, stored }) => ({
          owner: listed.key.owner,
          library: listed.key.name,
          reason,
          write: stored === null || stored.state === "listed" ? "insert" : "compare and update",
        })),
    skip: plan.skipped,
    remove: verdict.kind === "pass" ? plan.missing.map(({ owner, name }) => ({ owner, library: name })) : [],
    missing: plan.missing.length,
    requests: storesNothing ? 0 : contentRequests(planned),
    rejects: listing.rejects.map(({ code, path, reason }) => ({ code, path, reason })),
    held: verdict.kind === "held" ? verdict.message : null,
    incomplete: listing.incomplete,
  };
}

/** A plan for people. */
export function formatPlan(planned: PlannedListing, verdict: RemovalVerdict): string {
  const plan = toPlanJson(planned, verdict);
  const skipped = Object.entries(plan.skip).filter(([, count]) => count > 0);
  const lines = [
    `dry run: ${plural(plan.listed, "library", "libraries")} listed; nothing was written`,
    ...plan.read.map((action) => `  read    ${nameOf(action)}  (${action.reason}; ${action.write})`),
    ...plan.remove.map((key) => `  remove  ${nameOf(key)}  (no longer listed)`),
    ...heldRemovals(planned, verdict).map((key) => `  held    ${printable(formatKey(key))}  (no longer listed)`),
    ...skipped.map(([reason, count]) => `  skip    ${plural(count, "library", "libraries")}  (${reason})`),
    ...plan.rejects.map(({ reason, code }) => `  reject  ${printable(reason)}  (${code})`),
    ...(plan.incomplete === null ? [] : [`  ${plan.incomplete}; nothing would be marked as removed`]),
    ...(plan.held === null ? [] : [`  held: ${plan.held}`]),
    `a run would send ${plural(plan.requests, "request")} for content, and the requests for the listing`,
  ];
  return lines.join("\n");
}

/** The libraries that would be marked as removed if the guard did not hold that. */
const heldRemovals = ({ plan }: PlannedListing, verdict: RemovalVerdict) =>
  verdict.kind === "held" ? plan.missing : [];

const nameOf = ({ owner, library }: { owner: string; library: string }) =>
  printable(formatKey({ owner, name: library }));
