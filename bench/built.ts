/**
 * The modules of the built program, with the types of their sources: the benches measure `dist`. The imports are dynamic,
 * because `dist` exists only after the build (`npm run bench` builds it).
 */
const load = <T>(path: string): Promise<T> => import(new URL(`../dist/${path}`, import.meta.url).href);

export const { createClock } = await load<typeof import("../src/db/clock.ts")>("db/clock.js");
export const { connect, disconnect } = await load<typeof import("../src/db/connect.ts")>("db/connect.js");
export const { openEmbeddedPostgres } = await load<typeof import("../src/embedded-postgres/embedded-postgres.ts")>(
  "embedded-postgres/embedded-postgres.js",
);
export const { acquireLease } = await load<typeof import("../src/db/lease.ts")>("db/lease.js");
export const { saveOutcomes } =
  await load<typeof import("../src/db/store/save-outcomes.ts")>("db/store/save-outcomes.js");
export const { migrate } = await load<typeof import("../src/db/migrate.ts")>("db/migrate.js");
export const { createListingSaver } =
  await load<typeof import("../src/db/store/save-listing.ts")>("db/store/save-listing.js");
export const { libraries, scenarios } = await load<typeof import("../src/db/schema.ts")>("db/schema.js");
export const { readSnapshot } = await load<typeof import("../src/db/transaction.ts")>("db/transaction.js");
export const { streamStoredLibraries } =
  await load<typeof import("../src/db/read/stored-libraries.ts")>("db/read/stored-libraries.js");
export const { openService } = await load<typeof import("../src/service/client.ts")>("service/client.js");
export const { hashContent } = await load<typeof import("../src/sync/copy-libraries.ts")>("sync/copy-libraries.js");
export const { buildLibraryContent } = await load<typeof import("../src/sync/rules/library-content.ts")>(
  "sync/rules/library-content.js",
);
export const { runSync } = await load<typeof import("../src/sync/run.ts")>("sync/run.js");
export const { createValueParsers } = await load<typeof import("../src/parse-values.ts")>("parse-values.js");
