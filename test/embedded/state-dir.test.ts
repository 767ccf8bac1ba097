import { mkdirSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { embeddedStateDir } from "../../src/embedded-postgres/state-dir.ts";
import { newStateDir } from "./keepers.ts";

describe("the state directory", () => {
  test("is the one that was asked for, as a whole path", () => {
    expect(embeddedStateDir({ stateDir: "/data/../data/simcat", environment: {} })).toBe("/data/simcat");
  });

  test.runIf(process.platform === "linux")("is /var/lib/simcat for root", () => {
    vi.spyOn(process, "getuid").mockReturnValue(0);
    expect(embeddedStateDir({ stateDir: null, environment: { HOME: "/root" } })).toBe("/var/lib/simcat");
  });

  test.runIf(process.platform === "linux")(
    "is below XDG_STATE_HOME, else below HOME, else below TMPDIR or /tmp",
    () => {
      const home = newStateDir();
      mkdirSync(home);
      vi.spyOn(process, "getuid").mockReturnValue(1234);
      const place = (environment: Record<string, string>) => embeddedStateDir({ stateDir: null, environment });
      expect(place({ HOME: home, XDG_STATE_HOME: `${home}/xdg` })).toBe(`${home}/xdg/simcat`);
      expect(place({ HOME: home, XDG_STATE_HOME: "relative" })).toBe(`${home}/.local/state/simcat`);
      expect(place({ HOME: home })).toBe(`${home}/.local/state/simcat`);
      expect(place({ HOME: "relative", TMPDIR: "/var/tmp" })).toBe("/var/tmp/simcat-1234");
      expect(place({})).toBe("/tmp/simcat-1234");
    },
  );
});
