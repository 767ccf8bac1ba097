import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

let starting: ((socket: Socket) => void) | null = null;

// Published in the same breath in which undici starts a request, which is the only place where it tells of its connection.
subscribe("undici:client:sendHeaders", (message) => {
  starting?.((message as { readonly socket: Socket }).socket);
  starting = null;
});

/** For a request that starts now: hands over its connection before a byte is written. */
export function onceConnected(take: (socket: Socket) => void): void {
  starting = take;
}

/**
 * Reads nothing more from a connection, so that its sender has to wait. undici's own pause stops its parser instead, and when
 * the other side closes meanwhile, an assertion of its ends the process (nodejs/undici issue 5360, mended in a version that
 * wants a later Node).
 */
export function stopReading(socket: Socket): void {
  socket.read = () => null;
}

/** As if it had never been stopped; what is waiting comes when the connection is looked at next. */
export function allowReading(socket: Socket): void {
  Reflect.deleteProperty(socket, "read");
}

/** Reads on at once. Not from within a parser's callback. */
export function readOn(socket: Socket): void {
  allowReading(socket);
  socket.emit("readable");
}
