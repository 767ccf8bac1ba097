/** Well-formed JSON that cannot be the service's answer. The message says what it is; nothing of it may be stored. */
export class UntrustedAnswer extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UntrustedAnswer";
  }
}
