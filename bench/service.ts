/** The service as a process of its own, so that its work is not counted as the client's; see `tools/service.ts`. */

import { createDateSource } from "../src/mock/date-source.ts";
import { createOrganization } from "../src/mock/organization.ts";
import { startMockService } from "../src/mock/server.ts";
import { API_KEY, type Order, type ServiceOptions } from "./tools/service-order.ts";

const DAY_MS = 86_400_000;

const { libraries, scenarios, latencyMs }: ServiceOptions = JSON.parse(process.argv[2] ?? "");
const dateSource = createDateSource();
const today = Date.now();
const organization = createOrganization({
  seed: 1,
  libraries,
  scenariosPerLibrary: scenarios,
  even: true,
  // Older than any grain, so that one read settles everything.
  now: new Date(today - 60 * DAY_MS),
});
const service = await startMockService({ organization, apiKey: API_KEY, record: false, latencyMs });

/** Changes the description of one scenario in each of `count` libraries, under a new date that is also in the past. */
function edit({ count, round }: Extract<Order, { kind: "edit" }>): void {
  const lastModified = dateSource.text(new Date(today - (50 - round) * DAY_MS));
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
