import { MEMORY_LIMITS } from "../../src/db/store/scenario-buffer.ts";

/** Lowers the limits of this process, so that short lists are staged. Returns the function that restores them. */
export function lowerMemoryLimits(limits: Partial<typeof MEMORY_LIMITS>): () => void {
  const usual = { ...MEMORY_LIMITS };
  Object.assign(MEMORY_LIMITS, limits);
  return () => {
    Object.assign(MEMORY_LIMITS, usual);
  };
}
