import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Launch, Launcher } from "./launch.ts";

type Variant = Pick<Launch, "bin">;

/**
 * initdb asks for the name of its user, only to print it, and gives up where the user id has none, as a container
 * with an arbitrary user does. There it gets copies of the programs that ask for the machine's first account instead:
 * `getpwent` has `getpwuid`'s length and result. The server itself asks for no name, and runs as it was installed.
 */
export async function withNamelessInitdb(
  { native, user }: Launcher,
  directory: string,
  work: (variant: Variant) => Promise<void>,
): Promise<void> {
  if (process.platform !== "linux" || user !== null || hasName()) return work({});
  const bin = join(directory, "bin");
  await mkdir(bin);
  // initdb runs the postgres beside it, which asks the same.
  for (const program of ["initdb", "postgres"]) {
    const original = await readFile(join(native, "bin", program), "latin1");
    const changed = original.replaceAll("\0getpwuid\0", "\0getpwent\0");
    await writeFile(join(bin, program), changed, { encoding: "latin1", mode: 0o700 });
  }
  for (const neighbour of ["lib", "share"]) await symlink(join(native, neighbour), join(directory, neighbour));
  await work({ bin });
  for (const name of ["bin", "lib", "share"]) await rm(join(directory, name), { recursive: true });
}

function hasName(): boolean {
  try {
    return userInfo().username !== "";
  } catch {
    return false;
  }
}
