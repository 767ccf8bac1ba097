import type { Service } from "../../src/service/client.ts";
import { openService } from "../built.ts";
import { API_KEY } from "./service-order.ts";

/** The default of `SIMCAT_CONCURRENCY`. */
export const CONCURRENCY = 16;

/** Runs `work` with simcat's client and the default settings. */
export async function withClient<T>(
  url: string,
  work: (service: Service) => Promise<T>,
  concurrency = CONCURRENCY,
): Promise<T> {
  const service = openService({
    baseUrl: new URL(url),
    apiKey: API_KEY,
    defaultOwner: null,
    concurrency,
    maxRps: null,
    requestTimeoutMs: 60_000,
    maxRetries: 4,
    maxRetryWaitMs: 60_000,
    maxBodyBytes: 2 ** 30,
    version: "bench",
    environment: {},
    mask: (text) => text,
  });
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}
