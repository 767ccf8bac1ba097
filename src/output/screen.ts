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
