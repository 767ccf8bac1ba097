import type { ReportRows } from "../../db/read/read-report.ts";
import { plural } from "../../format.ts";
import { html } from "../html/html.ts";
import type { Section } from "./section.ts";

/** Why there are no libraries; null if there are some. */
export function emptySection(rows: ReportRows): Section | null {
  return rows.libraries.libraries > 0 ? null : { id: "activity", finding: findingOf(rows), isWide: true, body: html`` };
}

function findingOf({ owners, complete, runs, failing }: ReportRows): string {
  const [failed] = failing;
  if (failed !== undefined) {
    return `No library is stored: ${plural(failed.total, "listed library fails", "listed libraries fail")}`;
  }
  if (runs.length === 0) return "Nothing has been read yet";
  if (owners.length > 0) return `No library of ${owners.length === 1 ? "this owner" : "these owners"} is stored`;
  return complete.completeAsOf === null ? "No library is stored yet" : "The organization has no libraries";
}
