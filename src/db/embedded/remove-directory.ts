import { rm } from "node:fs/promises";
import { hasCode } from "./has-code.ts";
import { poll } from "./poll.ts";

const LIMIT = 10_000;

/** Removes a directory that a dying process may still be writing to: `rm` looks into it only once. */
export async function removeDirectory(directory: string): Promise<void> {
  const remove = async () => {
    try {
      await rm(directory, { recursive: true, force: true });
      return true;
    } catch (error) {
      if (hasCode(error, "ENOTEMPTY", "EBUSY", "EPERM")) return null;
      throw error;
    }
  };
  if (!(await poll(remove, LIMIT, new AbortController().signal))) await rm(directory, { recursive: true, force: true });
}
