import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { findBinaries, prepareBinaries } from "../../src/embedded-postgres/programs.ts";
import { ConfigurationError } from "../../src/errors.ts";
import { newStateDir } from "./keepers.ts";

const nobody = { uid: 65534, gid: 65534 };

test("names DATABASE_URL if the package of this platform is not installed", () => {
  const arch = Object.getOwnPropertyDescriptor(process, "arch");
  Object.defineProperty(process, "arch", { ...arch, value: "abacus" });
  try {
    expect(findBinaries).toThrow(ConfigurationError);
    expect(findBinaries).toThrow("DATABASE_URL is not set and this installation has no embedded Postgres");
  } finally {
    Object.defineProperty(process, "arch", { ...arch });
  }
});

describe("prepareBinaries", () => {
  test("creates the library links that the disabled install script would have created", async () => {
    const { found, stateDir } = installPackage();
    expect(await prepareBinaries(found, null, stateDir)).toBe(found.native);
    expect(readFileSync(join(found.native, "lib/libpq.so.5"), "utf8")).toBe("library");
    expect(existsSync(stateDir)).toBe(false);
  });

  test.runIf(process.getuid?.() === 0)(
    "copies the binaries with their links if the server's user cannot reach them",
    async () => {
      const { found, stateDir } = installPackage();
      chmodSync(dirname(dirname(stateDir)), 0o755);
      mkdirSync(stateDir, { recursive: true, mode: 0o711 });
      chmodSync(dirname(found.native), 0o700);
      const copy = join(stateDir, "binaries-18.4.0");
      expect(await prepareBinaries(found, nobody, stateDir)).toBe(copy);
      expect(readFileSync(join(copy, "lib/libpq.so.5"), "utf8")).toBe("library");
      expect(statSync(join(copy, "bin/postgres")).mode & 0o005).toBe(0o005);
      // The second call finds the copy.
      expect(await prepareBinaries(found, nobody, stateDir)).toBe(copy);
    },
  );

  test("keeps a dangling link", async () => {
    const { found, stateDir } = installPackage();
    symlinkSync("elsewhere", join(found.native, "lib/libpq.so.5"));
    expect(await prepareBinaries(found, null, stateDir)).toBe(found.native);
  });
});

/** A package like the real ones, as an installation without scripts leaves it. */
function installPackage() {
  const stateDir = join(newStateDir(), "state");
  const native = join(dirname(stateDir), "package/native");
  mkdirSync(join(native, "bin"), { recursive: true });
  mkdirSync(join(native, "lib"));
  writeFileSync(join(native, "bin/postgres"), "", { mode: 0o700 });
  writeFileSync(join(native, "lib/libpq.so.5.18"), "library");
  const links = [{ source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" }];
  writeFileSync(join(native, "pg-symlinks.json"), JSON.stringify(links));
  return { found: { native, version: "18.4.0" }, stateDir };
}
