import type { SyncState } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { streamStored } from "./stored-libraries.ts";

/** How many live libraries have a settled bookmark. In the caller's transaction. */
export async function countSettled(connection: Connection, isSettled: (sync: SyncState) => boolean): Promise<number> {
  let settled = 0;
  await streamStored(connection, ({ stored, removed, sync }) => {
    if (stored && !removed && sync !== null && isSettled(sync)) settled++;
  });
  return settled;
}
