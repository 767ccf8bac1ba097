import type { ReportRows } from "../../db/read/read-report.ts";
import { printable } from "../../printable.ts";
import { formatBytes, formatCount, plural } from "../amounts.ts";
import type { Draw } from "../charts/open-charts.ts";
import { html } from "../html/html.ts";
import { foreign } from "../html/text.ts";
import { truncate } from "../width.ts";
import { numbers, othersOf, percent, remark, type Section } from "./section.ts";

/** Whose libraries take the room. */
export function storageSection({ libraries, storage }: ReportRows, draw: Draw): Section | null {
  const [largest] = storage;
  if (largest === undefined) return null;
  const { bytes, sizesUnread } = libraries;
  const finding = findingOf(largest.owner ?? "", largest.bytes, libraries);
  const { unit, size } = unitFor(Math.max(...storage.map((row) => row.bytes)));
  const chart = draw({
    label: `${finding}. Storage by owner, in ${unit}.`,
    kind: "bars",
    things: "owner",
    names: storage.map(({ owner, owners }) => owner ?? othersOf(owners)),
    unit,
    formatValue: (value) => value.toLocaleString("en-US", { maximumFractionDigits: 1 }),
    series: [{ name: "stored", tone: "first", values: storage.map((row) => row.bytes / size) }],
    ends: storage.map((row) => formatBytes(row.bytes)),
  });
  const rows = storage.map(({ owner, owners, libraries: count, bytes: held }) => [
    owner === null ? othersOf(owners) : foreign(owner),
    formatCount(count),
    formatBytes(held),
    percent(held, bytes),
  ]);
  const titles = [{ title: "owner" }, ...["libraries", "stored", "share"].map((title) => ({ title, isNumber: true }))];
  const unread =
    sizesUnread === 0
      ? "Sizes are the service's, often rounded."
      : `${plural(sizesUnread, "size")} could not be read and ${sizesUnread === 1 ? "is" : "are"} in no sum; the others are the service's, often rounded.`;
  return {
    id: "storage",
    finding,
    body: html`${bytes === 0 ? null : chart}\n${remark(unread)}\n${numbers(titles, rows)}`,
  };
}

function findingOf(owner: string, held: number, { bytes, owners }: ReportRows["libraries"]): string {
  if (bytes === 0) return "No library says how large it is";
  const name = truncate(printable(owner), 48);
  if (owners === 1) return `${name} holds all ${formatBytes(bytes)}`;
  return `${name} holds ${percent(held, bytes)} of ${formatBytes(bytes)}, which ${formatCount(owners)} owners share`;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

function unitFor(bytes: number): { readonly unit: string; readonly size: number } {
  const at = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return { unit: UNITS[at] ?? "B", size: 1024 ** at };
}
