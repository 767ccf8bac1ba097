import { onTestFinished } from "vitest";
import { organizationOf } from "../../src/mock/organization.ts";
import type { MockLibrary } from "../support/mock/library.ts";
import { type MockService, type MockServiceOptions, startMockService } from "../support/mock/server.ts";
import { KEY } from "./raw-client.ts";

/** A service that has these libraries, until the test is over. */
export async function serve(
  libraries: readonly MockLibrary[],
  options: Partial<MockServiceOptions> = {},
): Promise<MockService> {
  const service = await startMockService({ organization: organizationOf(libraries), apiKey: KEY, ...options });
  onTestFinished(() => service.stop());
  return service;
}
