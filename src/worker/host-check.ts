import { isLoopback } from "../config/readers.ts";

/**
 * Returns true if a request with this Host header may be answered. A web page can make its own host name resolve to
 * 127.0.0.1 (DNS rebinding) and so read a server that listens on loopback, but its requests carry the page's host name.
 * The port is not compared: a forwarded port differs, and rebinding cannot change the name.
 */
export type HostCheck = (host: string | undefined) => boolean;

/** `address` is the address that the server listens on, `name` the configured one. */
export function createHostCheck(address: string, name: string): HostCheck {
  const bound = address.replace(/^::ffff:(?=\d)/i, "");
  if (!isLoopback(inUrl(bound))) return () => true;
  const configured = hostnameOf(inUrl(name));
  // Browsers send the header with every request; HTTP/1.0 clients need not.
  return (host = "") => {
    if (host === "") return true;
    const requested = hostnameOf(host);
    return requested !== null && (isLoopback(requested) || requested === configured);
  };
}

const inUrl = (address: string) => (address.includes(":") ? `[${address}]` : address);

/** The host name as `URL` spells it, without the port and the final dot of a full name; null if it is not a valid host. */
function hostnameOf(host: string): string | null {
  const url = `http://${host}`;
  if (/[/?#@\\\s]/.test(host) || !URL.canParse(url)) return null;
  return new URL(url).hostname.replace(/\.$/, "");
}
