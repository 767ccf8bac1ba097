/** undici gives a connection its next request in the second turn of the event loop behind the answer before. */
const TURNS = 3;

let waiting: (() => void)[] = [];

/**
 * Goes on once every socket that has something was looked at, and the connections that this left free have their next
 * requests: parsing would hold those up, and many answers parsed in a row take less than each between two sockets.
 */
export function inTurn(resume: () => void): void {
  if (waiting.length === 0) waitFor(TURNS);
  waiting.push(resume);
}

function waitFor(turns: number): void {
  setImmediate(turns === 1 ? resumeAll : () => waitFor(turns - 1));
}

/** Lets go on at once whoever waits for its turn. */
export function resumeAll(): void {
  const due = waiting;
  waiting = [];
  for (const resume of due) resume();
}
