import { once } from "node:events";
import { text } from "node:stream/consumers";
import { DatabaseError } from "../../errors.ts";
import { type Cluster, clusterIn } from "./cluster.ts";
import { lastLines } from "./last-lines.ts";
import { type Launcher, launch } from "./launch.ts";
import { withNamelessInitdb } from "./nameless-initdb.ts";

/** Fills the data directory of a draft; throws DatabaseError with initdb's own words. */
export async function initdb(draft: Cluster, lasting: boolean, launcher: Launcher, signal: AbortSignal): Promise<void> {
  const args = (directory: string) => {
    const inside = clusterIn(directory, ".");
    const encoding = ["-E", "UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
    const account = ["-U", "simcat", "-A", "scram-sha-256", `--pwfile=${inside.password}`];
    return ["-D", inside.data, ...encoding, ...account, "--no-instructions", ...(lasting ? [] : ["--no-sync"])];
  };
  await withNamelessInitdb(launcher, draft.directory, async (variant) => {
    const child = launch(launcher, { program: "initdb", directory: draft.directory, args, output: "pipe", ...variant });
    const stop = () => child.kill("SIGTERM");
    signal.addEventListener("abort", stop);
    try {
      const [said, complained, [code]] = await Promise.all([
        child.stdout === null ? "" : text(child.stdout),
        child.stderr === null ? "" : text(child.stderr),
        once(child, "close"),
      ]);
      signal.throwIfAborted();
      if (code === 0) return;
      throw new DatabaseError(
        `the embedded Postgres could not make its database in ${draft.directory}. initdb said:\n${lastLines(said + complained)}`,
      );
    } finally {
      signal.removeEventListener("abort", stop);
    }
  });
}
