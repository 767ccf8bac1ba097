import { scaleLinear } from "d3-scale";
import { type TimeInterval, utcDay, utcMonth } from "d3-time";
import { describe, expect, test } from "vitest";
import { amountAxis, bar, columnChart, lineChart, type TimeStep, timeAxis } from "../../src/report/charts.ts";
import { type Html, toMarkup } from "../../src/report/html/html.ts";
import { runsChart } from "../../src/report/html/runs-figure.ts";

const day = (text: string) => new Date(`${text}T00:00:00Z`);

const textsOf = (drawn: Html) => [...toMarkup(drawn).matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
const titlesOf = (drawn: Html) => [...toMarkup(drawn).matchAll(/<title>([^<]*)<\/title>/g)].map(([, title]) => title);
const numbersOf = (drawn: Html, pattern: RegExp) =>
  [...toMarkup(drawn).matchAll(pattern)].map(([, ...numbers]) => numbers.map(Number));
/** x and width of the rectangles of this class. */
const spansOf = (drawn: Html, className: string) =>
  numbersOf(drawn, new RegExp(`<rect class="${className}" x="([\\d.-]+)" y="[\\d.-]+" width="([\\d.]+)"`, "g"));

test.each([
  [1.21, ["0", "0.5", "1", "1.5"]],
  [2_100, ["0", "500", "1k", "1.5k", "2k", "2.5k"]],
])("an axis of amounts up to %d has plain or short numbers", (largest, texts) => {
  expect(amountAxis(scaleLinear([0, largest], []).nice(4), 4).ticks.map(({ text }) => text)).toEqual(texts);
});

test("a bar has parts in proportion to their values, one after the other, and none for a zero", () => {
  const drawn = bar(
    [
      { paint: "solid second", value: 10 },
      { paint: "solid first", value: 0 },
      { paint: "hollow first", value: 15 },
    ],
    50,
  );
  expect(toMarkup(drawn).match(/<rect [^>]*>/g)).toEqual([
    '<rect class="solid second" x="0%" y="1" width="20%" height="13"/>',
    '<rect class="hollow first" x="20%" y="1" width="30%" height="13"/>',
  ]);
  expect(toMarkup(bar([{ paint: "solid first", value: 0 }], 0))).not.toContain("<rect");
});

describe("columns", () => {
  /** Steps with these counts by days. */
  const stepsOf = (
    interval: TimeInterval,
    from: Date,
    to: Date,
    counts: Readonly<Record<string, TimeStep["counts"]>>,
  ) =>
    interval.range(interval.floor(from), to).map((at): TimeStep => {
      return { at, end: interval.offset(at, 1), isKnown: true, counts: counts[at.toISOString().slice(0, 10)] ?? {} };
    });
  const [from, to] = [new Date("2026-11-18T12:00:00Z"), new Date("2026-11-21T06:00:00Z")];
  const chart = {
    ...{ label: "changes", unit: "scenarios", from, to },
    steps: stepsOf(utcDay, from, to, { "2026-11-19": { new: 8, old: 4 } }),
    describe: (start: Date, count: number) => `${start.toISOString().slice(0, 10)}: ${count} scenarios`,
    series: [
      { key: "new", name: "added", paint: "solid first" as const },
      { key: "old", name: "removed", paint: "solid second" as const, below: true },
    ],
  };

  test("shade the part of the first step that is not counted, and steps of which nothing is known", () => {
    // Four days are 342 units: half a day at the left.
    expect(spansOf(columnChart(chart), "shade")).toEqual([[44, 42.8]]);
    const steps = chart.steps.map((step) => ({ ...step, isKnown: step.at.getUTCDate() !== 20 }));
    expect(spansOf(columnChart({ ...chart, steps }), "shade")).toEqual([
      [44, 42.8],
      [215, 85.5],
    ]);
    const whole = { ...chart, from: day("2026-11-18"), to: new Date("2026-11-21T23:59:59Z") };
    expect(spansOf(columnChart(whole), "shade")).toEqual([]);
  });

  test("are pale and as wide as the others in the step that has not ended", () => {
    const steps = stepsOf(utcDay, from, to, { "2026-11-20": { new: 1 }, "2026-11-21": { new: 1 } });
    const drawn = columnChart({ ...chart, steps });
    expect(spansOf(drawn, "solid first")).toEqual([[216.5, 82.5]]);
    expect(spansOf(drawn, "solid first so-far")).toEqual([[302, 82.5]]);
    expect(spansOf(columnChart({ ...chart, to: day("2026-11-22"), steps }), "solid first so-far")).toEqual([]);
  });

  test("are drawn below the line for what was removed, in the same scale", () => {
    const heights = (className: string) =>
      numbersOf(columnChart(chart), new RegExp(`<rect class="${className}" [^>]*height="([\\d.]+)"`, "g"));
    const [[added = 0] = []] = heights("solid first");
    const [[removed = 0] = []] = heights("solid second");
    expect(added).toBeGreaterThan(40);
    expect(added).toBeCloseTo(2 * removed, 0);
    expect(titlesOf(columnChart(chart))).toEqual([
      "2026-11-19: 8 scenarios, added",
      "2026-11-19: 4 scenarios, removed",
    ]);
  });

  test.each([
    [{ new: 1 }, ["0", "1"]],
    [{ new: 2, old: 1 }, ["1", "0", "1", "2"]],
  ])("label whole numbers only, also of few changes, above and below the line: %o (fault 395)", (counts, amounts) => {
    const texts = textsOf(columnChart({ ...chart, steps: stepsOf(utcDay, from, to, { "2026-11-20": counts }) }));
    expect(texts).toEqual(["scenarios", ...amounts, "18 Nov", "19 Nov", "20 Nov", "21 Nov", "22 Nov"]);
  });

  test.each([
    ["2026-10-09", "2026-11-23", ["11 Oct", "25 Oct", "8 Nov", "22 Nov"]],
    ["2026-11-17", "2026-11-21", ["17 Nov", "18 Nov", "19 Nov", "20 Nov", "21 Nov"]],
    ["2024-11-23", "2026-11-23", ["Jan 2025", "Jul", "Jan 2026", "Jul"]],
    ["2026-01-01", "2026-07-01", ["Jan 2026", "Mar", "May", "Jul"]],
  ])("have round times below them from %s to %s", (from, to, texts) => {
    expect(timeAxis(day(from), day(to)).ticks.map(({ text }) => text)).toEqual(texts);
  });

  test("have one column per month, whatever its length", () => {
    const [start, end] = [day("2026-01-01"), day("2026-03-31")];
    const steps = stepsOf(utcMonth, start, end, { "2026-02-01": { new: 3 } });
    const months = { ...chart, from: start, to: end, steps };
    const [span] = spansOf(columnChart(months), "solid first");
    expect(span?.[1]).toBeCloseTo((342 * 28) / 90 - 3, 0);
  });
});

describe("a line", () => {
  const at = (seconds: number) => new Date(1_000 * seconds);
  const chart = { label: "growth", unit: "libraries", from: at(0), to: at(10), maxStepMs: 10_000, last: "10" };

  test("is straight between two points, ends with its last value, and has room above that", () => {
    const points = [
      { at: at(0), amount: 0 },
      { at: at(5), amount: 10 },
    ];
    const drawn = lineChart({ ...chart, points });
    expect(toMarkup(drawn)).toContain('class="curve" d="M44,166L215,47.7"');
    expect(toMarkup(drawn)).toContain('<circle class="solid first" cx="215" cy="47.7" r="3.5"/>');
    const amounts = ["0", "2", "4", "6", "8", "10", "12"];
    expect(textsOf(drawn)).toEqual(["libraries", ...amounts, "1 Jan", ...Array(5).fill("00:00"), "10"]);
  });

  test("is interrupted where points are missing, and the time between, before and after them is shaded (fault 279)", () => {
    const points = [0, 1, 2, 5, 6].map((seconds) => ({ at: at(seconds), amount: 5 }));
    const drawn = lineChart({ ...chart, points, maxStepMs: 1_000 });
    expect(toMarkup(drawn)).toContain('class="curve" d="M44,47.7L78.2,47.7L112.4,47.7M215,47.7L249.2,47.7"');
    expect(spansOf(drawn, "shade")).toEqual([
      [112.4, 102.6],
      [249.2, 136.8],
    ]);
    const late = lineChart({ ...chart, points: points.slice(3), maxStepMs: 1_000 });
    expect(spansOf(late, "shade")).toEqual([
      [44, 171],
      [249.2, 136.8],
    ]);
  });

  test.each([
    ["whole things", 0, ["0", "1"]],
    ["whole things", 2, ["0", "2", "4"]],
    ["sizes", 1.21, ["0", "0.5", "1", "1.5"]],
  ])("of %s up to %d has no step that is a fraction of a whole thing (fault 260)", (_, amount, texts) => {
    const drawn = lineChart({ ...chart, points: [0, 1].map((seconds) => ({ at: at(seconds), amount })) });
    expect(textsOf(drawn).slice(1, 1 + texts.length + 1)).toEqual([...texts, "1 Jan"]);
  });

  test("has a dot for a point between two gaps, which no line shows (fault 260)", () => {
    const points = [0, 5, 9, 10].map((seconds) => ({ at: at(seconds), amount: 5 }));
    const drawn = toMarkup(lineChart({ ...chart, points, maxStepMs: 1_000 }));
    expect(drawn).toContain('<path class="curve alone" d="M44,47.7ZM215,47.7Z"/>');
  });

  test("is no longer than its pixels for thousands of points", () => {
    const points = Array.from({ length: 10_000 }, (_, index) => ({ at: new Date(index), amount: index % 10 }));
    expect(toMarkup(lineChart({ ...chart, points })).length).toBeLessThan(13_000);
  });
});

describe("dots", () => {
  const run = {
    id: 1,
    kind: "sync",
    scope: null,
    status: "ok",
    startedAt: new Date("2026-11-20T14:00:00Z"),
    durationMs: 400,
    error: null,
  } as const;

  test("of a single run are drawn in the middle, on an axis of seconds", () => {
    const drawn = runsChart([run], "runs");
    expect(textsOf(drawn).slice(0, 3)).toEqual(["seconds", "0.1", "1"]);
    const [[x = 0, y = 0] = []] = numbersOf(drawn, /translate\(([\d.]+) ([\d.]+)\)/g);
    expect(x).toBeCloseTo(215 - 4.5, 0);
    expect(y).toBeGreaterThan(24);
    expect(y).toBeLessThan(166);
    expect(titlesOf(drawn)).toEqual(["sync 1, 20 Nov 2026, 14:00: ok, 0.4 s"]);
  });

  test("show the outcome by shape and by color", () => {
    const statuses = ["ok", "partial", "held", "failed", "interrupted", "running"] as const;
    const drawn = toMarkup(
      runsChart(
        statuses.map((status) => ({ ...run, status })),
        "runs",
      ),
    );
    const shapes = [...drawn.matchAll(/<path class="state-(\w+)" [^>]*d="([^"]+)"/g)];
    expect(new Set(shapes.map(([, variant]) => variant)).size).toBe(6);
    expect(new Set(shapes.map(([, , path]) => path)).size).toBe(6);
  });

  test("of very short and very long runs keep their distance: a decade is as high as any other", () => {
    const runs = [0, 10, 1_000, 100_000, 3_600_000].map((durationMs) => ({ ...run, durationMs }));
    const drawn = runsChart(runs, "runs");
    expect(textsOf(drawn)).toEqual(expect.arrayContaining(["0.01", "0.1", "1", "10", "100", "1000", "10000"]));
    const heights = numbersOf(drawn, /translate\([\d.]+ ([\d.]+)\)/g).map(([y]) => y ?? 0);
    expect(heights[0]).toBe(heights[1]);
    expect((heights[1] ?? 0) - (heights[2] ?? 0)).toBeCloseTo((heights[2] ?? 0) - (heights[3] ?? 0), 0);
  });
});
