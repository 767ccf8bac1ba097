import pg from "pg";
import { EXIT } from "../../src/errors.ts";
import { editRandomly } from "../../src/mock/edits.ts";
import { createOrganization, type Organization } from "../../src/mock/organization.ts";
import { createRandom, type Random } from "../../src/mock/random.ts";
import { runSync } from "../support/call-cli.ts";
import { movableClock } from "../support/database-clock.ts";
import { createDateSource } from "../support/mock/date-source.ts";
import { changeLibrary } from "../support/mock/library.ts";
import { startMockService } from "../support/mock/mock-service.ts";

const API_KEY = "key-of-the-mock";
const DAY_MS = 86_400_000;
const DAYS = 120;
const EDITS_A_DAY = 12;

/**
 * Fills an empty database with 120 days of an organization: its service edits itself, and `simcat sync` runs once a day. The clocks of
 * the service and of the database start 120 days ago.
 */
export async function followOrganization(url: string): Promise<void> {
  let daysLeft = DAYS;
  let hours = 0;
  const clock = () => new Date(Date.now() - daysLeft * DAY_MS - hours * 3_600_000);
  const organization = createOrganization({ seed: 7, libraries: 200, scenariosPerLibrary: 20, now: clock() });
  const random = createRandom(3);
  const dateSource = createDateSource({ clock });
  const service = await startMockService({ organization, apiKey: API_KEY, clock });
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  try {
    const setClock = await movableClock({
      query: async (sql, parameters = []) => (await database.query(sql, [...parameters])).rows,
    });
    const sync = async () => {
      await setClock(clock().toISOString());
      const code = await runSync({ SIMCAT_BASE_URL: service.url, SIMCAT_API_KEY: API_KEY, DATABASE_URL: url });
      // Partial: a library that lost many scenarios at once waits for a second read, as it would in practice.
      if (code !== EXIT.ok && code !== EXIT.partial) throw new Error(`simcat sync ended with ${code}`);
    };
    await sync();
    while (daysLeft > 0) {
      daysLeft -= 1;
      for (let edit = EDITS_A_DAY; edit > 0; edit--) {
        hours = (edit * 20) / EDITS_A_DAY;
        editRandomly(organization, random, dateSource);
      }
      if (daysLeft < 75) upgrade(organization, random, dateSource.text(clock()));
      if (daysLeft === 30) removeOwner(organization);
      hours = 0;
      await sync();
    }
  } finally {
    await database.end();
    await service.stop();
  }
}

/** From one day on, the libraries of one package move to a new version, one or two a day. */
function upgrade(organization: Organization, random: Random, lastModified: string): void {
  const old = organization
    .libraries()
    .filter(({ packageName, packageVersion }) => packageName === "landscape" && packageVersion !== "4.4.0");
  for (const library of old.slice(0, random.between(0, 2))) {
    changeLibrary(organization, library.owner, library.name, { packageVersion: "4.4.0", lastModified });
  }
}

/** An owner with few libraries leaves, and everything of this owner is removed. */
function removeOwner(organization: Organization): void {
  const counts = new Map<string, number>();
  for (const { owner } of organization.libraries()) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  const [leaver] = [...counts].find(([, count]) => count >= 3 && count <= 8) ?? [];
  for (const { owner, name } of organization.libraries()) if (owner === leaver) organization.remove(owner, name);
  // Otherwise an edit may restore a library that this owner had removed before.
  const restorable = organization.removed.filter(({ owner }) => owner !== leaver);
  organization.removed.splice(0, organization.removed.length, ...restorable);
}
