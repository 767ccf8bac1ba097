import type { Route } from "../../../src/mock/mock-service.ts";
import type { Fault, FaultAction, FaultMatch } from "./faults.ts";

/**
 * Returns a function that finds the actions for a request, none if no fault fires. Faults are tried in order; if one does
 * not apply, the next is tried. Each request is counted for the faults that it matches.
 */
export function createFaultScript(faults: readonly Fault[]) {
  const triggers = faults.map(createTrigger);
  return (route: Route, rawPath: string): readonly FaultAction[] => {
    for (const trigger of triggers) {
      const actions = trigger(route, rawPath);
      if (actions !== null) return actions;
    }
    return [];
  };
}

/** Returns a function that finds the actions of one fault for a request; null if it does not fire. */
function createTrigger({ match = {}, times = 1, skip = 0, action }: Fault) {
  const matches = createMatcher(match);
  const actions: readonly FaultAction[] = "kind" in action ? [action] : action;
  let passed = 0;
  let fired = 0;
  return (route: Route, rawPath: string) => {
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
