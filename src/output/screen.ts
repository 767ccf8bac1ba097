import { formatElapsed } from "../format.ts";

/** A terminal with a line that is redrawn. */
export interface Screen {
  readonly columns: number;
  /** Writes raw text. */
  readonly draw: (text: string) => void;
}

/** Overwrites the line before clearing its rest, because clearing it first would flicker. */
export function drawLine({ columns, draw }: Screen, text: string): void {
  draw(`\r${text.slice(0, Math.max(10, columns - 1))}\x1b[K`);
}

export function clearLine({ draw }: Pick<Screen, "draw">): void {
  draw("\r\x1b[K");
}

const REDRAW_MS = 200;
const LOG_MS = 30_000;

/** Shows a text and the time since the start: redraws a line of a terminal, or without one calls `log` now and then. */
export function createStatusLine(screen: Screen | null, log: (text: string) => void) {
  const startedAt = performance.now();
  let shownAt = startedAt;
  let isDrawn = false;
  return {
    show(text: string): void {
      const now = performance.now();
      if (now - shownAt < (screen === null ? LOG_MS : REDRAW_MS)) return;
      shownAt = now;
      isDrawn = screen !== null;
      const timed = `${text}, ${formatElapsed(now - startedAt)}`;
      if (screen === null) log(timed);
      else drawLine(screen, timed);
    },
    /** Clears the line. */
    end(): void {
      if (screen !== null && isDrawn) clearLine(screen);
    },
  };
}
