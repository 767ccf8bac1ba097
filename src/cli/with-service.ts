import { openService, type Service, type ServiceOptions } from "../service/client.ts";
import type { Context } from "./context.ts";
import type { ServiceConfig } from "./settings.ts";

/** The service's client, closed afterwards. */
export async function withService<T>(
  { environment, version, mask }: Context,
  config: ServiceConfig,
  options: Pick<ServiceOptions, "onEvent">,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const service = openService({ ...config, environment, version, mask, ...options });
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}
