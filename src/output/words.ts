/** The words of the first screens that newcomers cannot know. */
const WORD_MEANINGS = {
  settled: "an unchanged date proves that the stored content is current",
  owes: "the library must be read again, whatever its date is",
  held: "too much was missing at once, so it was not marked as removed",
  partial: "some libraries failed or are incomplete; the rest is stored",
};

/** A line for each of these words that the text has. */
export function explainWords(text: string): string[] {
  const found = Object.entries(WORD_MEANINGS).filter(([word]) => new RegExp(`\\b${word}\\b`).test(text));
  return found.map(([word, meaning]) => `(${word}: ${meaning})`);
}
