import type { RecordedRequest } from "../support/mock/recorder.ts";

/** Holds back the answers of some requests until it is opened. */
export interface Gate {
  readonly onRequest: (request: RecordedRequest) => undefined | Promise<void>;
  /** Resolves when a request waits at the gate. */
  readonly reached: Promise<void>;
  open(): void;
}

/** Lets this many content requests pass and holds the following ones. */
export function gateAfter(passing: number): Gate {
  return gate((request, count) => request.path !== "/libs" && count > passing);
}

/** Holds the listing. */
export function gateBeforeListing(): Gate {
  return gate((request) => request.path === "/libs");
}

/** Holds the metadata of each library. */
export function gateBeforeMetadata(): Gate {
  return gate((request) => request.path.endsWith("/metadata"));
}

function gate(isHeld: (request: RecordedRequest, count: number) => boolean): Gate {
  const { promise: opened, resolve: open } = withResolvers();
  const { promise: reached, resolve: reach } = withResolvers();
  let count = 0;
  return {
    reached,
    open,
    onRequest(request) {
      if (request.path !== "/libs") count += 1;
      if (!isHeld(request, count)) return undefined;
      reach();
      return opened;
    },
  };
}

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
