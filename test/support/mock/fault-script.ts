import type { Route } from "../../../src/mock/server.ts";
import type { Fault, FaultAction, FaultMatch } from "./faults.ts";

export interface FaultScript {
  /** Returns the actions for this request, none if no fault fires. Counts the request for the faults that it matches. */
  next(route: Route, rawPath: string): readonly FaultAction[];
}

/** Faults are tried in order; if one does not apply, the next is tried. */
export function createFaultScript(faults: readonly Fault[]): FaultScript {
  const triggers = faults.map(createTrigger);
  return {
    next(route, rawPath) {
      for (const trigger of triggers) {
        const actions = trigger(route, rawPath);
        if (actions !== null) return actions;
      }
      return [];
    },
  };
}

/** Returns the actions of one fault for a request, or null if it does not fire. */
type Trigger = (route: Route, rawPath: string) => readonly FaultAction[] | null;

function createTrigger({ match = {}, times = 1, skip = 0, action }: Fault): Trigger {
  const matches = createMatcher(match);
  const actions: readonly FaultAction[] = "kind" in action ? [action] : action;
  let passed = 0;
  let fired = 0;
  return (route, rawPath) => {
    if (times !== "always" && fired >= times) return null;
    if (!matches(route, rawPath)) return null;
    if (passed < skip) {
      passed += 1;
      return null;
    }
    fired += 1;
    return actions;
  };
}

function createMatcher(match: FaultMatch): (route: Route, rawPath: string) => boolean {
  const { operation = "any", owner, library } = match;
  const pattern = match.pathPattern === undefined ? null : new RegExp(match.pathPattern);
  return (route, rawPath) => {
    if (operation !== "any" && route.kind !== operation) return false;
    const requested = "owner" in route ? route : null;
    if (owner !== undefined && requested?.owner !== owner) return false;
    if (library !== undefined && requested?.name !== library) return false;
    return pattern?.test(rawPath) ?? true;
  };
}
