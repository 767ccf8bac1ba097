import { text } from "node:stream/consumers";
import { openEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";

// A process that uses the embedded database until its input ends. Tests run several of them and kill them.
const never = new AbortController().signal;
const settings = { fsync: "off" };
try {
  const stateDir = process.argv[2] ?? null;
  const postgres = await openEmbeddedPostgres({ stateDir, environment: process.env, settings }, never);
  console.log(JSON.stringify(postgres));
  await text(process.stdin);
  await postgres.stop();
} catch (error) {
  console.log(JSON.stringify({ error: String(error) }));
  process.exitCode = 1;
}
