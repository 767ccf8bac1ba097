import type { ReportRows } from "../../db/read/read-report.ts";
import { formatBytes, formatCount, plural } from "../../format.ts";
import { truncate } from "../../output/text-width.ts";
import { printable } from "../../printable.ts";
import { barChart } from "../charts/bar-chart.ts";
import { foreignText } from "../html/elements.ts";
import { html } from "../html/html.ts";
import { formatOthers, formatPercent, note, numbersTable, type Section } from "./section.ts";

/** The storage of libraries, by owner. */
export function storageSection({ libraries, storage }: ReportRows): Section | null {
  const [largest] = storage;
  if (largest === undefined) return null;
  const { bytes, sizesUnread } = libraries;
  const finding = findingOf(largest.owner ?? "", largest.bytes, libraries);
  const chart = barChart({
    label: `${finding}. Storage by owner.`,
    bars: storage.flatMap(({ owner, bytes: held }) =>
      owner === null ? [] : [{ name: owner, parts: [{ tone: "first", value: held }], end: formatBytes(held) }],
    ),
  });
  const others = storage.find(({ owner }) => owner === null);
  const rows = storage.map(({ owner, owners, libraries: count, bytes: held }) => [
    owner === null ? formatOthers(owners) : foreignText(owner),
    formatCount(count),
    formatBytes(held),
    formatPercent(held, bytes),
  ]);
  const titles = [{ title: "owner" }, ...["libraries", "stored", "share"].map((title) => ({ title, isNumber: true }))];
  return {
    id: "storage",
    finding,
    // The finding says all about a single owner.
    body: html`${bytes === 0 || storage.length === 1 ? null : chart}
${others === undefined ? null : note(`Not drawn: ${formatOthers(others.owners)} with ${formatBytes(others.bytes)} (${formatPercent(others.bytes, bytes)}).`)}
${note(
  sizesUnread === 0 ? null : `Not included: ${plural(sizesUnread, "library", "libraries")} of unknown size. `,
  "Sizes are those of the service, which rounds them.",
)}
${numbersTable(titles, rows)}`,
  };
}

function findingOf(owner: string, held: number, { bytes, owners }: ReportRows["libraries"]): string {
  if (bytes === 0) return "No library has a known size";
  const name = truncate(printable(owner), 48);
  if (owners === 1) return `${name} holds all ${formatBytes(bytes)}`;
  return `${name} holds ${formatPercent(held, bytes)} of the ${formatBytes(bytes)} of ${formatCount(owners)} owners`;
}
