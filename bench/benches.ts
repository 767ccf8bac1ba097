import type { Bench } from "./bench.ts";
import { backfill } from "./benches/backfill.ts";
import { extract } from "./benches/extract.ts";
import { growth } from "./benches/growth.ts";
import { latency } from "./benches/latency.ts";
import { memory } from "./benches/memory.ts";
import { nothingNew } from "./benches/nothing-new.ts";
import { onePercent } from "./benches/one-percent.ts";
import { rewrite } from "./benches/rewrite.ts";
import { slices } from "./benches/slices.ts";
import { startUp } from "./benches/start-up.ts";
import { write } from "./benches/write.ts";

/** All benches, in the order in which they run. */
export const BENCHES: Readonly<Record<string, Bench>> = {
  write,
  rewrite,
  extract,
  backfill,
  "nothing-new": nothingNew,
  "one-percent": onePercent,
  latency,
  memory,
  growth,
  slices,
  "start-up": startUp,
};
