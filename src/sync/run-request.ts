import type { DatabaseClock } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import type { MemoryLimits } from "../db/store/scenario-buffer.ts";
import type { RunKind, RunReport, Selection, Trigger } from "../model.ts";
import type { Service } from "../service/client.ts";
import type { RunSettings } from "./prepare.ts";
import type { RunEvent } from "./run-event.ts";

export interface RunRequest {
  readonly kind: RunKind;
  readonly trigger: Trigger;
  readonly selection: Selection;
  readonly allowRemovals: boolean;
  /** Begin a backfill again instead of continuing an interrupted one, and compare every row. */
  readonly restart: boolean;
}

export interface RunTools {
  readonly pool: Pool;
  readonly clock: DatabaseClock;
  readonly service: Service;
  readonly settings: RunSettings;
  readonly version: string;
  /** Takes the secrets out of a message before it is stored or reported. */
  readonly mask: (message: string) => string;
  readonly tell: (event: RunEvent) => void;
  /** Beyond it scenario lists pass through the staging table; absent: MEMORY_LIMITS. */
  readonly memory?: MemoryLimits;
}

export interface RunResult {
  readonly report: RunReport;
  /** What ended the run before its time; null when it came to its end (`ok`, `partial`, `held`). */
  readonly error: Error | null;
}
