import type { Figure, Target } from "../bench.ts";
import type { Machine } from "./machine.ts";
import { median } from "./measure.ts";

export function isReached({ values, target }: Figure): boolean {
  return "atMost" in target ? median(values) <= target.atMost : median(values) >= target.atLeast;
}

export function formatMachine({
  date,
  processor,
  cores,
  memoryGB,
  system,
  node,
  postgres,
  commit,
  load,
}: Machine): string {
  const busy =
    load > 1 ? `\nThe machine was busy (load ${load.toFixed(1)}): the ratios are valid, the times are not.` : "";
  return `${date}, ${cores} × ${processor}, ${memoryGB} GB, ${system}, Node ${node.slice(1)}, Postgres ${postgres}, simcat ${commit}${busy}`;
}

const COLUMN_CHARS = [52, 8, 15, 9] as const;

/** `time ÷ COPY of the same rows   1.18   (1.10–1.31)   ≤ 1.25   ok    1.42 s against 1.20 s` */
export function formatFigure(figure: Figure, tiny: boolean): string {
  const { name, values, target, unit, detail } = figure;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const spread = values.length > 1 ? `(${formatValue(low)}–${formatValue(high)})` : "";
  const shown = unit === undefined ? formatValue(median(values)) : `${formatValue(median(values))} ${unit}`;
  const cells = [name, shown, spread, formatTarget(target)].map((cell, index) => cell.padEnd(COLUMN_CHARS[index] ?? 0));
  const outcome = tiny ? "ran " : isReached(figure) ? "ok  " : "MISS";
  return `  ${cells.join(" ")} ${outcome}  ${detail}`;
}

function formatTarget(target: Target): string {
  return "atMost" in target ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`;
}

function formatValue(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(value < 0.1 ? 3 : 2);
}
