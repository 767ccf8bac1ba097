import { createAnswers } from "./answer.ts";
import { EDITS, type EditMade, editRandomly } from "./edits.ts";
import { createFaultScript } from "./fault-script.ts";
import type { BetweenAction, Fault } from "./faults.ts";
import { listen } from "./listen.ts";
import type { Organization } from "./nouns.ts";
import { createRandom } from "./random.ts";
import { createRecorder, type RecordedRequest } from "./recorder.ts";
import { createResponder } from "./respond.ts";
import type { Route } from "./route.ts";
import { createStamp, type Stamp } from "./stamp.ts";

export interface MockServiceOptions {
  readonly organization: Organization;
  readonly apiKey: string;
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port?: number;
  /** Of faults with a probability and of edits by chance. */
  readonly seed?: number;
  /** Milliseconds between two edits by chance; null makes none. */
  readonly editEvery?: number | null;
  /** Such as `/v1`; default empty. */
  readonly pathPrefix?: string;
  /** The service's clock: of edits and of the `Date` header. */
  readonly clock?: () => Date;
  /** How edits write dates; its clock is `clock` by default. */
  readonly stamp?: Stamp;
  readonly latencyMs?: number;
  /** Gzips for those who accept it. */
  readonly gzip?: boolean;
  readonly tls?: { readonly key: string; readonly cert: string };
  /** False keeps no requests: for measurements. */
  readonly record?: boolean;
  readonly faults?: readonly Fault[];
  /** Called before the answer is made, which waits for a promise returned. */
  readonly onRequest?: (request: RecordedRequest) => undefined | Promise<void>;
  readonly onEdit?: (edit: EditMade) => void;
}

export interface MockService {
  /** With the path prefix, without a slash at the end. */
  readonly url: string;
  readonly organization: Organization;
  readonly requests: readonly RecordedRequest[];
  /** Requests that are not GET, a sentence each. Empty at the end of every good test. */
  readonly violations: readonly string[];
  clearRequests(): void;
  /** Replaces the faults and resets their counts. */
  script(faults: readonly Fault[]): void;
  edit<T>(change: (organization: Organization) => T): T;
  /** Destroys every socket and leaves nothing running. */
  stop(): Promise<void>;
}

/** Starts a mock of the service over HTTP. */
export async function startMockService(options: MockServiceOptions): Promise<MockService> {
  const { organization, apiKey, host = "127.0.0.1", port = 0, seed = 1, clock } = options;
  const pathPrefix = (options.pathPrefix ?? "").replace(/\/$/, "");
  const stamp = options.stamp ?? createStamp(clock === undefined ? {} : { clock });
  const random = createRandom(seed);
  const recorder = createRecorder(options.record ?? true);
  let script = createFaultScript(options.faults ?? [], random);

  function runEdit({ edit }: BetweenAction, route: Route): void {
    const keyed = "owner" in route ? organization.get(route.owner, route.name) : undefined;
    const library = "owner" in route || organization.size === 0 ? keyed : random.pick(organization.libraries());
    if (typeof edit === "function") edit(organization, library);
    else if (library !== undefined) EDITS[edit](organization, library, random, stamp);
  }

  const respond = createResponder({
    organization,
    answers: createAnswers(organization),
    recorder,
    script: () => script,
    runEdit,
    apiKey,
    pathPrefix,
    date: clock === undefined ? null : () => clock().toUTCString(),
    latencyMs: options.latencyMs ?? 0,
    gzip: options.gzip ?? false,
    onRequest: options.onRequest ?? null,
  });
  const listener = await listen({ host, port, ...(options.tls ? { tls: options.tls } : {}) }, respond);
  const timer = startEdits(options.editEvery ?? null, () => {
    const made = editRandomly(organization, random, stamp);
    options.onEdit?.(made);
  });

  return {
    url: `${listener.origin}${pathPrefix}`,
    organization,
    requests: recorder.requests,
    violations: recorder.violations,
    clearRequests: recorder.clear,
    script(faults) {
      script = createFaultScript(faults, random);
    },
    edit: (change) => change(organization),
    stop() {
      clearInterval(timer);
      return listener.close();
    },
  };
}

const startEdits = (everyMs: number | null, edit: () => void): NodeJS.Timeout | undefined =>
  everyMs === null ? undefined : setInterval(edit, everyMs);
