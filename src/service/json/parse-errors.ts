/** The response is not well-formed JSON of the expected shape. The message says what was received. */
export class MalformedJson extends Error {
  /** The response ended before the JSON did, so its end was probably lost. */
  readonly truncated: boolean;
  /** Only white space was received. */
  readonly empty: boolean;

  constructor(message: string, kind: "wrong" | "truncated" | "empty" = "wrong") {
    super(message);
    this.name = "MalformedJson";
    this.truncated = kind !== "wrong";
    this.empty = kind === "empty";
  }
}

/** Well-formed JSON that cannot be the service's response. The message says what it is. Nothing of it may be stored. */
export class UntrustedResponse extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UntrustedResponse";
  }
}
