import { readFileSync } from "node:fs";

/** The statements with which an upgrade derives the events from the versions. The table of events must be empty. */
export const DERIVE_EVENTS =
  /CREATE TABLE simcat\.upgrade_libraries[\s\S]*?DROP TABLE [^;]*;/.exec(
    readFileSync("migrations/0004_events.sql", "utf8"),
  )?.[0] ?? "";
