import type { ScenarioSink } from "../model.ts";
import type { StopSignal } from "./http/life.ts";

/** A sink that takes nothing more once the read was called off, and knows how many scenarios it holds. */
export interface GuardedSink extends ScenarioSink {
  /** Empties it before a list is delivered once more; nothing to do before the first. */
  begin(): Promise<void>;
  kept(): number;
}

export function guardSink(sink: ScenarioSink, signal: StopSignal): GuardedSink {
  let begun = false;
  let kept = 0;
  async function restart(): Promise<void> {
    signal.throwIfAborted();
    kept = 0;
    await sink.restart();
  }
  return {
    restart,
    async begin() {
      if (begun) await restart();
      begun = true;
    },
    async add(scenarios) {
      signal.throwIfAborted();
      kept += scenarios.length;
      await sink.add(scenarios);
    },
    async sources(ids) {
      signal.throwIfAborted();
      return sink.sources(ids);
    },
    async remove(id) {
      signal.throwIfAborted();
      kept--;
      await sink.remove(id);
    },
    kept: () => kept,
  };
}
