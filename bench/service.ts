/** The mock service in its own process, so that its work does not slow down the client; see `tools/service.ts`. */

import { UTC_DATES } from "../src/mock/date-source.ts";
import { createOrganization } from "../src/mock/organization.ts";
import { startMockService } from "../test/support/mock/server.ts";
import { API_KEY, type Order, type ServiceOptions } from "./tools/service-order.ts";

const DAY_MS = 86_400_000;

const { libraries, scenarios, latencyMs }: ServiceOptions = JSON.parse(process.argv[2] ?? "");
const today = Date.now();
const organization = createOrganization({
  seed: 1,
  libraries,
  scenariosPerLibrary: scenarios,
  even: true,
  // Older than the coarsest precision of a date, so that one read settles everything.
  now: new Date(today - 60 * DAY_MS),
});
const service = await startMockService({ organization, apiKey: API_KEY, record: false, latencyMs });

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
