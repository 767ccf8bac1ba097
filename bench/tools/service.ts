import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Order, ServiceOptions } from "./service-order.ts";

export interface BenchService {
  /** Without a trailing slash. */
  readonly url: string;
  order(order: Order): Promise<void>;
}

/** Runs `work` with the mock service in its own process. The service prepares each answer when it is first requested. */
export async function withService<T>(options: ServiceOptions, work: (service: BenchService) => Promise<T>): Promise<T> {
  const program = fileURLToPath(new URL("../service.ts", import.meta.url));
  const child = fork(program, [JSON.stringify(options)], { execArgv: ["--import", import.meta.resolve("tsx")] });
  try {
    const [url] = await once(child, "message");
    const order = async (message: Order) => {
      child.send(message);
      await once(child, "message");
    };
    return await work({ url: String(url), order });
  } finally {
    child.kill();
    await once(child, "exit");
  }
}
