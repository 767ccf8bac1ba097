/**
 * The modules of the built program, with the types of their sources: the benches measure `dist`. The imports are dynamic,
 * because `dist` exists only after the build (`npm run bench` builds it).
 */
const load = <T>(path: string): Promise<T> => import(new URL(`../dist/${path}`, import.meta.url).href);

export const { openClock } = await load<typeof import("../src/db/clock.ts")>("db/clock.js");
export const { connect, disconnect } = await load<typeof import("../src/db/connect.ts")>("db/connect.js");
export const { openEmbeddedPostgres } = await load<typeof import("../src/embedded-postgres/embedded-postgres.ts")>(
  "embedded-postgres/embedded-postgres.js",
);
export const { withLease } = await load<typeof import("../src/db/lease.ts")>("db/lease.js");
export const { openLibraryWriter } =
  await load<typeof import("../src/db/store/library-writer.ts")>("db/store/library-writer.js");
export const { migrate } = await load<typeof import("../src/db/migrate.ts")>("db/migrate.js");
export const { fencedWrites } = await load<typeof import("../src/db/fenced-writes.ts")>("db/fenced-writes.js");
export const { saveListing } = await load<typeof import("../src/db/store/save-listing.ts")>("db/store/save-listing.js");
export const { libraries, scenarios } = await load<typeof import("../src/db/schema.ts")>("db/schema.js");
export const { readSnapshot } = await load<typeof import("../src/db/snapshot.ts")>("db/snapshot.js");
export const { readStored } = await load<typeof import("../src/db/read/stored.ts")>("db/read/stored.js");
export const { openService } = await load<typeof import("../src/service/client.ts")>("service/client.js");
export const { toContent } = await load<typeof import("../src/sync/content.ts")>("sync/content.js");
export const { runSync } = await load<typeof import("../src/sync/run.ts")>("sync/run.js");
export const { openTextReader } = await load<typeof import("../src/sync/texts.ts")>("sync/texts.js");
