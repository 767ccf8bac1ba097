import type { Context } from "./context.ts";

/** Resolves at the first SIGHUP, SIGINT or SIGTERM: the ordinary end of what runs until it is stopped. */
export async function untilStopped({ stop }: Context): Promise<void> {
  // A pending promise alone does not keep the process alive.
  const alive = setInterval(() => {}, 2 ** 30);
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener("abort", () => resolve(), { once: true });
  });
  clearInterval(alive);
}
