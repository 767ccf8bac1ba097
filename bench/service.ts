/** The mock service in its own process, so that its work does not slow down the client; see `tools/service.ts`. */

import { UTC_DATES } from "../src/mock/date-source.ts";
import { createLibrary } from "../src/mock/library.ts";
import { createLibraryName, type Organization, organizationOf } from "../src/mock/organization.ts";
import { createRandom } from "../src/mock/random.ts";
import { startMockService } from "../test/support/mock/mock-service.ts";
import { API_KEY, type Order, type ServiceOptions } from "./tools/service-order.ts";

const DAY_MS = 86_400_000;

const { libraries, scenarios, latencyMs }: ServiceOptions = JSON.parse(process.argv[2] ?? "");
const today = Date.now();
const organization = createEvenOrganization();
const service = await startMockService({ organization, apiKey: API_KEY, record: false, latencyMs });

/** Libraries of as many scenarios each. Their dates are older than the coarsest precision of a date, so one read settles all. */
function createEvenOrganization(): Organization {
  const random = createRandom(1);
  const even = organizationOf([]);
  while (even.size < libraries) {
    const owner = `user-${random.below(100)}`;
    const modifiedAt = new Date(today - (60 + random.below(900)) * DAY_MS);
    const name = createLibraryName(even, owner, random);
    even.put(createLibrary(random, owner, name, scenarios, modifiedAt, UTC_DATES));
  }
  return even;
}

/** Changes one scenario's description in each of the first `count` libraries, under a new date, which is in the past too. */
function edit({ count, round }: Extract<Order, { kind: "edit" }>): void {
  const lastModified = UTC_DATES.text(new Date(today - (50 - round) * DAY_MS));
  for (const library of organization.libraries().slice(0, count)) {
    const [first, ...others] = library.scenarios;
    if (first === undefined) continue;
    const edited = { ...first, description: `Edited in round ${round}`, lastModified };
    organization.put({ ...library, lastModified, scenarios: [edited, ...others] });
  }
}

process.on("message", (order: Order) => {
  if (order.kind === "edit") edit(order);
  process.send?.("done");
});
process.on("disconnect", () => process.exit());
process.send?.(service.url);
