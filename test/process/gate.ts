import type { RecordedRequest } from "../support/mock/recorder.ts";

export type Gate = ReturnType<typeof gate>;

/** Lets this many content requests pass and holds the following ones. */
export function gateAfter(passing: number) {
  return gate((request, count) => request.path !== "/libs" && count > passing);
}

/** Holds the listing. */
export function gateBeforeListing() {
  return gate((request) => request.path === "/libs");
}

/** Holds the metadata of each library. */
export function gateBeforeMetadata() {
  return gate((request) => request.path.endsWith("/metadata"));
}

/** Holds back the answers of some requests until it is opened. */
function gate(isHeld: (request: RecordedRequest, count: number) => boolean) {
  const { promise: opened, resolve: open } = withResolvers();
  const { promise: reached, resolve: reach } = withResolvers();
  let count = 0;
  return {
    /** Resolves when a request waits at the gate. */
    reached,
    open,
    onRequest(request: RecordedRequest): undefined | Promise<void> {
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
