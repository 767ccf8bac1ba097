import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startProgram } from "../support/cli.ts";

test.runIf(process.platform === "linux")("describes and kills a process that a test waits for in vain", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await new Promise((resolve) => silent.once("listening", resolve));
  const { port } = silent.address() as { port: number };
  const script = `console.log("begun"); require("node:net").connect(${port}, "127.0.0.1")`;
  const waiting = startProgram(process.execPath, ["-e", script], {}, { patienceMs: 3_000 });

  await expect(waiting.ended).rejects.toThrow(
    new RegExp(
      `did not end within 3 s\\nprocess ${waiting.process.pid}: S [^]*port \\d+ to ${port}, established[^]*begun`,
    ),
  );
  await new Promise((resolve) => waiting.process.once("close", resolve));
  expect(waiting.process.signalCode).toBe("SIGKILL");
});
