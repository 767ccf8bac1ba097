import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { Dispatcher } from "undici";

/** A request of undici whose response may be paused. */
interface PausableRequest {
  /** The socket of its connection; null before it is sent, and always null if only undici's own pause can be used. */
  socket: Socket | null;
}

/**
 * Pauses responses by making `socket.read` return nothing, so that the sender has to wait. This is a workaround for
 * undici 7, the last version for Node 20: `controller.pause()` stops its parser instead, and if the server closes the
 * connection meanwhile, an assertion of undici ends the process (nodejs/undici#5360). undici 8.12.4 has the fix and needs
 * Node 22.19. DELETE THIS FILE WITH NODE 20, and call `controller.pause()` and `resume()` in its place.
 *
 * The price: it relies on two internals of undici. A diagnostics channel reports each request's socket in the same turn
 * in which the request starts, and undici reads sockets by `readable` events and `read()`. Both are checked on the first
 * request of each client. If they do not hold, `controller.pause()` is used, with its risk, and `onUnsupported` is called.
 */
export class SocketPauses {
  readonly #onUnsupported: (message: string) => void;
  #state: "unchecked" | "supported" | "unsupported" = "unchecked";
  #starting: PausableRequest | null = null;

  constructor(onUnsupported: (message: string) => void) {
    this.#onUnsupported = onUnsupported;
    subscribe("undici:client:sendHeaders", this.#onSendHeaders);
  }

  /** Finds the socket of a request. Call it in `onRequestStart`, immediately before undici writes the request. */
  findSocket(request: PausableRequest): void {
    if (this.#state === "unsupported") return;
    this.#starting = request;
    if (this.#state !== "unchecked") return;
    queueMicrotask(() => {
      if (this.#starting === request) this.#fallBack("undici does not report the socket of a request");
    });
  }

  /** Call it in `onResponseData` only. */
  pause({ socket }: PausableRequest, controller: Dispatcher.DispatchController): void {
    if (socket === null) controller.pause();
    else socket.read = () => null;
  }

  /** Reads on at once. Do not call it in a callback of undici's parser. */
  resume({ socket }: PausableRequest, controller: Dispatcher.DispatchController): void {
    if (socket === null) controller.resume();
    else {
      this.release({ socket });
      socket.emit("readable");
    }
  }

  /** Ends the pause of a request that is over. Bytes that are left are read with the socket's next event. */
  release({ socket }: PausableRequest): void {
    if (socket !== null) Reflect.deleteProperty(socket, "read");
  }

  close(): void {
    unsubscribe("undici:client:sendHeaders", this.#onSendHeaders);
  }

  readonly #onSendHeaders = (message: unknown) => {
    const request = this.#starting;
    if (request === null) return;
    this.#starting = null;
    const { socket } = message as { readonly socket?: Socket };
    if (this.#state === "unchecked") {
      if (socket === undefined || !isReadByEvents(socket)) {
        this.#fallBack("undici does not read sockets by `readable` events");
        return;
      }
      this.#state = "supported";
    }
    request.socket = socket ?? null;
  };

  #fallBack(reason: string): void {
    this.#state = "unsupported";
    this.#starting = null;
    this.#onUnsupported(
      `${reason}, so large responses are paused by undici itself, which can end the process if the server closes the connection meanwhile (nodejs/undici#5360); install the undici version of simcat's package-lock.json`,
    );
  }
}

function isReadByEvents(socket: Socket): boolean {
  return (
    typeof socket.read === "function" && socket.listenerCount("readable") > 0 && socket.listenerCount("data") === 0
  );
}
