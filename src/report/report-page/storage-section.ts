import type { ReportRows } from "../../db/read/read-report.ts";
import { formatBytes, formatCount, plural } from "../../format.ts";
import { printable } from "../../printable.ts";
import type { DrawChart } from "../charts/chart-renderer.ts";
import { foreignText } from "../html/elements.ts";
import { html } from "../html/html.ts";
import { truncate } from "../text-width.ts";
import { formatOthers, formatPercent, note, numbersTable, type Section } from "./section.ts";

/** The storage of libraries, by owner. */
export function storageSection({ libraries, storage }: ReportRows, draw: DrawChart): Section | null {
  const [largest] = storage;
  if (largest === undefined) return null;
  const { bytes, sizesUnread } = libraries;
  const finding = findingOf(largest.owner ?? "", largest.bytes, libraries);
  const { unit, size } = unitFor(Math.max(...storage.map((row) => row.bytes)));
  const chart = draw({
    label: `${finding}. Storage by owner, in ${unit}.`,
    kind: "bars",
    things: "owner",
    names: storage.map(({ owner, owners }) => owner ?? formatOthers(owners)),
    unit,
    formatValue: (value) => value.toLocaleString("en-US", { maximumFractionDigits: 1 }),
    series: [{ name: "stored", tone: "first", values: storage.map((row) => row.bytes / size) }],
    ends: storage.map((row) => formatBytes(row.bytes)),
  });
  const rows = storage.map(({ owner, owners, libraries: count, bytes: held }) => [
    owner === null ? formatOthers(owners) : foreignText(owner),
    formatCount(count),
    formatBytes(held),
    formatPercent(held, bytes),
  ]);
  const titles = [{ title: "owner" }, ...["libraries", "stored", "share"].map((title) => ({ title, isNumber: true }))];
  const unparsed =
    sizesUnread === 0
      ? "Sizes are those of the service, which are often rounded."
      : `${plural(sizesUnread, "size")} could not be parsed and ${sizesUnread === 1 ? "is" : "are"} not included. The other sizes are those of the service, which are often rounded.`;
  return {
    id: "storage",
    finding,
    body: html`${bytes === 0 ? null : chart}\n${note(unparsed)}\n${numbersTable(titles, rows)}`,
  };
}

function findingOf(owner: string, held: number, { bytes, owners }: ReportRows["libraries"]): string {
  if (bytes === 0) return "No library has a known size";
  const name = truncate(printable(owner), 48);
  if (owners === 1) return `${name} holds all ${formatBytes(bytes)}`;
  return `${name} holds ${formatPercent(held, bytes)} of the ${formatBytes(bytes)} of ${formatCount(owners)} owners`;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

function unitFor(bytes: number): { readonly unit: string; readonly size: number } {
  const index = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return { unit: UNITS[index] ?? "B", size: 1024 ** index };
}
