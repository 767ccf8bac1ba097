/** An answer that is not well-formed JSON of the shape that belongs there. The message says what was found. */
export class MalformedJson extends Error {
  /** The answer ended before the JSON did: its end was probably lost on the way. */
  readonly truncated: boolean;
  /** Nothing but white space came. */
  readonly empty: boolean;
  constructor(message: string, kind: "wrong" | "truncated" | "empty" = "wrong") {
    super(message);
    this.name = "MalformedJson";
    this.truncated = kind !== "wrong";
    this.empty = kind === "empty";
  }
}
