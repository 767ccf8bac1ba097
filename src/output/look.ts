import { styleText } from "node:util";

/** What a word says about the state of things. */
export type Tone = "good" | "warn" | "bad" | "quiet";

/** How text for people looks on a stream. */
export interface Look {
  /** Whether a person looks: symbols instead of bare words. */
  readonly hasSymbols: boolean;
  readonly paint: (tone: Tone, text: string) => string;
}

export const SYMBOLS: Readonly<Record<Tone, string>> = { good: "✓", warn: "!", bad: "✗", quiet: "-" };
const TONE_STYLES = { good: "green", warn: "yellow", bad: "red", quiet: "dim" } as const;

export function createLook(isTerminal: boolean, isColored: boolean): Look {
  return {
    hasSymbols: isTerminal || isColored,
    // The caller has judged the stream, also for standard error.
    paint: (tone, text) => (isColored ? styleText(TONE_STYLES[tone], text, { validateStream: false }) : text),
  };
}

/** For files and pipes. */
export const PLAIN = createLook(false, false);

/** The text with the symbol of its tone. */
export const mark = ({ hasSymbols, paint }: Look, tone: Tone, text: string): string =>
  paint(tone, hasSymbols ? `${SYMBOLS[tone]} ${text}` : text);

const TONES_OF_STATUS = { ok: "good", partial: "warn", held: "warn", running: "quiet", interrupted: "quiet" } as const;

export const toneOf = (status: string): Tone =>
  Object.entries(TONES_OF_STATUS).find(([name]) => name === status)?.[1] ?? "bad";
