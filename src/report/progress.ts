import { formatCount, formatElapsed } from "../format.ts";
import type { RunEvent } from "../sync/run-types.ts";
import { clearLine, drawLine, type Screen } from "./screen.ts";

/** The progress of a run, in libraries. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  readonly elapsedMs: number;
}

export function formatProgress({ done, total, failed, elapsedMs }: Progress): string {
  const rate = done / Math.max(elapsedMs / 1000, 0.001);
  const leftMs = Math.max(1_000, ((total - done) / rate) * 1000);
  const left = done === 0 || done === total ? "" : `, ${formatElapsed(leftMs)} left`;
  const failures = failed === 0 ? "" : `, ${formatCount(failed)} failed`;
  const percent = total === 0 ? 100 : Math.floor((100 * done) / total);
  return `${formatCount(done)}/${formatCount(total)} libraries (${percent} %), ${rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate)}/s${left}${failures}`;
}

interface ProgressLine {
  event(event: RunEvent): void;
  /** Clears the line. */
  end(): void;
}

/** Shows a run's progress: redraws a terminal line five times per second. Without a terminal, calls `log` every 30 seconds. */
export function createProgressLine(screen: Screen | null, log: (progress: Progress) => void): ProgressLine {
  const everyMs = screen ? 200 : 30_000;
  let progress: Progress = { done: 0, total: 0, failed: 0, elapsedMs: 0 };
  let startedAt = 0;
  let drawn = false;
  let timer: NodeJS.Timeout | undefined;

  const show = () => {
    const now = { ...progress, elapsedMs: performance.now() - startedAt };
    if (screen === null) {
      log(now);
      return;
    }
    drawLine(screen, formatProgress(now));
    drawn = true;
  };
  return {
    event(event) {
      if (event.kind === "planned" && event.toRead > 0) {
        progress = { ...progress, total: event.toRead };
        startedAt = performance.now();
        timer = setInterval(show, everyMs).unref();
      }
      if (event.kind === "stored") progress = { ...progress, done: progress.done + 1 };
      if (event.kind === "failed") progress = { ...progress, done: progress.done + 1, failed: progress.failed + 1 };
    },
    end() {
      clearInterval(timer);
      if (screen !== null && drawn) clearLine(screen);
    },
  };
}
