/** How far a Retry-After reaches: the whole run, or only the resource that asked. */
export interface Pauses {
  /** A resource asks for a pause of `ms`; the answer is who must keep it. */
  ask(resource: string, ms: number, now: number): "run" | "resource";
  /** Until when this resource is paused; 0 when it is not. */
  until(resource: string): number;
}

/** Two resources that ask within this time mean the service, not one library. */
const WINDOW_MS = 30_000;

export function openPauses(): Pauses {
  const asked = new Map<string, { readonly at: number; readonly until: number }>();
  return {
    ask(resource, ms, now) {
      for (const [name, { at, until }] of asked) if (now - at > WINDOW_MS && now >= until) asked.delete(name);
      const others = [...asked].some(([name, { at }]) => name !== resource && now - at <= WINDOW_MS);
      asked.set(resource, { at: now, until: now + ms });
      return others ? "run" : "resource";
    },
    until: (resource) => asked.get(resource)?.until ?? 0,
  };
}
