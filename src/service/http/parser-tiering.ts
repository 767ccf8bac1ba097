import { setFlagsFromString } from "node:v8";

/** The largest that the flag takes: hundreds of answers. */
const BUDGET = 2 ** 31 - 1;

/**
 * undici parses HTTP in WebAssembly, in one large function. V8 would optimize it behind the first answer, which takes 100 to
 * 250 ms of another core, and a process that ends meanwhile waits for it. It pays from thousands of answers on, so let it
 * begin after hundreds. Read when undici compiles its parser, for the first connection.
 */
export function putOffOptimizingTheParser(): void {
  setFlagsFromString(`--wasm-tiering-budget=${BUDGET}`);
}
