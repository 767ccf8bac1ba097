import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

interface Listening {
  listen(port: number, host: string, done: () => void): unknown;
  address(): AddressInfo | string | null;
  close(done?: () => void): unknown;
  closeAllConnections?(): void;
}

/** Listens on loopback until the end of the test, and returns the port. */
export async function listen(server: Listening): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections?.();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}
