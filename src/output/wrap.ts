import { stripVTControlCharacters } from "node:util";
import { widthOf } from "./table.ts";

/** A line with a command, or a word with the spaces before it. A command of simcat's, or a quoted name to copy, is one word. */
const WORDS =
  /^ {2}(?:export|psql|npx|node|[A-Z_]+=\S+) .*$| *(?:\bsimcat [a-z]+(?: (?:--[\w-]+|(?:'[^']*'|\\')+|[^\s/']+\/\S+))*|(?<=[ (])'[^']+'|\S)+/g;
/** The beginning of a line up to its text, such as `  libraries  `. */
const LABEL = /^.{0,30} {2,}(?=\S)/;

/** Breaks lines that are wider than `columns` between words. The rest of a line is indented like the text after its label. */
export function wrapText(text: string, columns: number): string {
  return text
    .split("\n")
    .map((line) => (widthOf(line) > columns ? wrapLine(line, columns) : line))
    .join("\n");
}

function wrapLine(line: string, columns: number): string {
  const labelWidth = LABEL.exec(stripVTControlCharacters(line))?.[0].length ?? 0;
  // The spaces before a line without a label are no label either.
  const isAligned = labelWidth > 4 && labelWidth <= columns / 2;
  const indent = " ".repeat(isAligned ? labelWidth : Math.min(labelWidth, 4) + 2);
  const lines: string[] = [];
  let current = "";
  for (const word of line.match(WORDS) ?? []) {
    if (widthOf(current) >= labelWidth && current !== "" && widthOf(current + word) > columns) {
      lines.push(current);
      current = indent + word.trimStart();
    } else current += word;
  }
  return [...lines, current].join("\n");
}
