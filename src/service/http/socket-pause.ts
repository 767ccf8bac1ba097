import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

/** A request of undici whose response may be paused. */
interface PausableRequest {
  /** The socket of its connection; null before it is sent. */
  socket: Socket | null;
}

const SEND_CHANNEL = "undici:client:sendHeaders";

/**
 * Pauses responses by making `socket.read` return nothing, so that the sender has to wait. This is a workaround for
 * undici 7, the last version for Node 20: `controller.pause()` stops its parser instead, and if the server closes the
 * connection meanwhile, an assertion of undici ends the process (nodejs/undici#5360). undici 8.12.4 has the fix and needs
 * Node 22.19. DELETE THIS FILE WITH NODE 20, and call `controller.pause()` and `resume()` in its place.
 *
 * The price: it relies on two internals of the undici that is bundled. A diagnostics channel publishes each request's socket in the
 * same turn in which the request starts, and undici reads sockets by `readable` events and `read()`.
 */
export class SocketPauses {
  #starting: PausableRequest | null = null;

  constructor() {
    subscribe(SEND_CHANNEL, this.#onSend);
  }

  /** Finds the socket of a request. Call it in `onRequestStart`, immediately before undici writes the request. */
  findSocket(request: PausableRequest): void {
    this.#starting = request;
  }

  /** Call it in `onResponseData` only. */
  pause({ socket }: PausableRequest): void {
    if (socket !== null) socket.read = () => null;
  }

  /** Reads on at once. Do not call it in a callback of undici's parser. */
  resume({ socket }: PausableRequest): void {
    this.release({ socket });
    socket?.emit("readable");
  }

  /** Ends the pause of a request that is over. Bytes that are left are read with the socket's next event. */
  release({ socket }: PausableRequest): void {
    if (socket !== null) Reflect.deleteProperty(socket, "read");
  }

  close(): void {
    unsubscribe(SEND_CHANNEL, this.#onSend);
  }

  readonly #onSend = (message: unknown) => {
    if (this.#starting !== null) this.#starting.socket = (message as { readonly socket: Socket }).socket;
    this.#starting = null;
  };
}
