import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/**
 * PgBouncer in transaction mode in front of a database; all other settings as in Debian's package.
 * @returns the database's URL through it
 */
export async function startPgbouncer(
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { hostname, port, pathname, username, password } = new URL(databaseUrl);
  const name = pathname.slice(1);
  const directory = temporaryDirectory();
  const own = await freePort();
  const quoted = (text: string) => `"${decodeURIComponent(text).replaceAll('"', '""')}"`;
  writeFileSync(join(directory, "users.txt"), `${quoted(username)} ${quoted(password)}\n`);
  const options = {
    listen_addr: "127.0.0.1",
    listen_port: String(own),
    unix_socket_dir: "",
    // Debian's md5 also accepts the plain password in the file, and uses SCRAM with the server.
    auth_type: "md5",
    auth_file: join(directory, "users.txt"),
    pool_mode: "transaction",
    ...settings,
  };
  const lines = Object.entries(options).map(([key, value]) => `${key} = ${value}`);
  writeFileSync(
    join(directory, "pgbouncer.ini"),
    `[databases]\n${name} = host=${hostname} port=${port} dbname=${name}\n[pgbouncer]\n${lines.join("\n")}\n`,
  );
  chmodSync(directory, 0o755);
  // PgBouncer refuses to run as root.
  const asUser = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  let said = "";
  const child = spawn("pgbouncer", [join(directory, "pgbouncer.ini")], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
    ...asUser,
  });
  child.stderr?.on("data", (text) => {
    said += text;
  });
  onTestFinished(() => void child.kill("SIGQUIT"));
  const answered = async () => {
    const socket = connect(own, "127.0.0.1");
    await once(socket, "connect").finally(() => socket.destroy());
  };
  await vi.waitFor(answered, 10_000).catch(() => expect.fail(`pgbouncer does not answer: ${said}`));
  const through = new URL(databaseUrl);
  through.host = `127.0.0.1:${own}`;
  return through.href;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await once(server.close(), "close");
  return port;
}
