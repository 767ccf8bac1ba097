import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { startProgram } from "../support/cli.ts";
import { listen } from "../support/listen.ts";

test.runIf(process.platform === "linux")("describes and kills a process that a test waits for in vain", async () => {
  const port = await listen(createServer());
  const script = `console.log("begun"); require("node:net").connect(${port}, "127.0.0.1")`;
  const waiting = startProgram(process.execPath, ["-e", script], {}, { patienceMs: 3_000 });

  const peer = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")} 01 `;
  await expect(waiting.ended).rejects.toThrow(
    new RegExp(`did not end within 3 s\\nthreads wait in: \\S[^]* ${peer}[^]*\\noutput:\\nbegun`),
  );
  await once(waiting.process, "close");
  expect(waiting.process.signalCode).toBe("SIGKILL");
});
