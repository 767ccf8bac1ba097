import type { SyncState } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { eachStored } from "./stored.ts";

/** How many live libraries have a settled bookmark. In the caller's transaction. */
export async function countSettled(connection: Connection, isSettled: (sync: SyncState) => boolean): Promise<number> {
  let settled = 0;
  await eachStored(connection, ({ state, sync }) => {
    if (state === "live" && sync !== null && isSettled(sync)) settled++;
  });
  return settled;
}
