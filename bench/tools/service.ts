import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Order, ServiceOptions } from "./service-order.ts";

export interface BenchService {
  /** Without a slash at its end. */
  readonly url: string;
  order(order: Order): Promise<void>;
}

/** A mock of the service in a process of its own. Each answer is prepared once, by asking for it before the clock runs. */
export async function withService<T>(options: ServiceOptions, work: (service: BenchService) => Promise<T>): Promise<T> {
  const program = fileURLToPath(new URL("../service.ts", import.meta.url));
  const child = fork(program, [JSON.stringify(options)], { execArgv: ["--import", import.meta.resolve("tsx")] });
  try {
    const [url] = await once(child, "message");
    const order = async (what: Order) => {
      child.send(what);
      await once(child, "message");
    };
    return await work({ url: String(url), order });
  } finally {
    child.kill();
    await once(child, "exit");
  }
}
