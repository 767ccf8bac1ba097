import { chmod } from "node:fs/promises";
import { expect, test } from "vitest";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startOwnServer } from "./own-server.ts";

test("a URL may name a socket directory instead of a host, in every form the driver accepts (fault 99)", async () => {
  const directory = temporaryDirectory();
  // The server may run as another user.
  await chmod(directory, 0o777);
  const { url } = await startOwnServer({ unix_socket_directories: directory });
  const { username, password, port, pathname } = new URL(url);
  const { call } = await fixture([library("alice", "Fire", { scenarios: [1] })]);

  for (const socketUrl of [
    `postgres://${username}:${password}@${pathname}?host=${directory}&port=${port}`,
    `postgres://${pathname}?user=${username}&password=${password}&host=${directory}&port=${port}`,
    `postgres://${username}:${password}@${encodeURIComponent(directory)}:${port}${pathname}`,
  ]) {
    const { code, stdout } = await call(["check"], { DATABASE_URL: socketUrl });

    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/ok +database +postgres:\/\/.*Postgres/),
    });
    expect(stdout).not.toContain(password);
    expect(stdout).not.toContain("no-host");
    expect((await call(["sync"], { DATABASE_URL: socketUrl })).code).toBe(0);
  }
});
