import type { Control } from "./database.ts";
import { type GatedPool, openGatedPool } from "./gated-pool.ts";
import type { Scheduler } from "./scheduler.ts";

/** Pools that outlive a run, because opening sessions costs more than the run itself. */
export interface Pools {
  take(): Promise<GatedPool>;
  giveBack(pool: GatedPool): void;
  close(): void;
}

export function openPools(url: string, scheduler: Scheduler, control: Control): Pools {
  const free: GatedPool[] = [];
  return {
    take: async () => free.pop() ?? openGatedPool(url, scheduler, control),
    giveBack: (pool) => void free.push(pool),
    close() {
      for (const pool of free) pool.destroy();
    },
  };
}
