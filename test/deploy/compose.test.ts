/** deploy/compose.yaml: two services, each with no more rights than it needs, and no secret in the environment. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { NAMES, SECRET_NAMES } from "../../src/config/settings.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

interface ServiceOfCompose {
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly ports: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
}

const deploy = fileURLToPath(new URL("../../deploy/", import.meta.url));
interface Compose {
  readonly services: { readonly postgres: ServiceOfCompose; readonly simcat: ServiceOfCompose };
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}
const manifest = JSON.stringify(parse(readFileSync(join(deploy, "compose.yaml"), "utf8")));
/** As Compose reads it with an environment file: `${NAME:-default}` and `${NAME:?message}`. */
const read = (variables: Readonly<Record<string, string>>): Compose =>
  JSON.parse(manifest.replace(/\$\{(\w+):[-?]([^}]*)\}/g, (_, name, fallback) => variables[name] || fallback));
const compose = read({});
const { postgres, simcat } = compose.services;

test("both have a read-only root and no unused capabilities, restart, and listen on this machine only", () => {
  const common = {
    read_only: true,
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
    restart: "unless-stopped",
  };
  const depends_on = { postgres: { condition: "service_healthy" } };
  expect(simcat).toMatchObject({ ...common, stop_grace_period: "30s", mem_limit: "512m", depends_on });
  expect("cap_add" in simcat).toBe(false);
  const cap_add = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"];
  expect(postgres).toMatchObject({ ...common, image: "postgres:18", cap_add });
  expect([...postgres.ports, ...simcat.ports].filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
});

test("both health checks work without a shell", () => {
  expect(postgres.healthcheck.test.slice(0, 2)).toEqual(["CMD", "pg_isready"]);
  expect(simcat.healthcheck.test.slice(0, 3)).toEqual(["CMD", "node", "-e"]);
  expect(simcat.healthcheck.test[3]).toContain("/healthz");
});

test("secrets are files outside of the repository, and every setting is a setting of simcat", () => {
  const names = Object.keys(simcat.environment);
  const files = names.filter((name) => name.endsWith("_FILE"));
  // Compose refuses to start without the file of a secret, so an optional one is not among them.
  const needed = SECRET_NAMES.filter((name) => name !== "SIMCAT_NOTIFY_URL");
  expect(files.sort()).toEqual(needed.map((name) => `${name}_FILE`).sort());
  expect(names.filter((name) => !NAMES.some((known) => known === name) && !files.includes(name))).toEqual([]);
  expect(files.map((name) => simcat.environment[name]?.replace("/run/secrets/", "")).sort()).toEqual(
    [...simcat.secrets].sort(),
  );
  expect([...new Set([...simcat.secrets, ...postgres.secrets])].sort()).toEqual(Object.keys(compose.secrets).sort());
  expect(JSON.stringify(postgres.environment)).not.toMatch(/PASSWORD"/);
  expect(Object.values(compose.secrets).filter(({ file }) => !file.startsWith("./secrets/"))).toEqual([]);
  expect(readFileSync(join(deploy, ".gitignore"), "utf8")).toBe("secrets/\n");
});

test("projects with the variables of docs/organizations.md share no port and no secret (fault 301)", () => {
  const guide = readFileSync(join(deploy, "../docs/organizations.md"), "utf8");
  const [, list = ""] = /^\*\*Compose\.\*\*[\s\S]*?\(([^)]*)\):$/m.exec(guide.replace(/\]\([^)]*\)/g, "]")) ?? [];
  const names = [...list.matchAll(/`([A-Z_]+)[=`]/g)].map(([, name = ""]) => name);
  const [north, south] = ["north", "south"].map((organization) => {
    const { services, secrets } = read(Object.fromEntries(names.map((name) => [name, `${organization}-${name}`])));
    const { SIMCAT_BASE_URL } = services.simcat.environment;
    return [
      SIMCAT_BASE_URL,
      ...services.postgres.ports,
      ...services.simcat.ports,
      ...Object.values(secrets).map((one) => one.file),
    ];
  });
  expect(north).toHaveLength(7);
  expect(north?.filter((one) => south?.includes(one))).toEqual([]);
});

test("the roles get the passwords of the worker's URLs", () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, "database_url"), "postgres://simcat_writer:aa11@postgres:5432/simcat");
  writeFileSync(join(folder, "database_direct_url"), "postgresql://simcat_migrator:bb22@postgres:5432/simcat\n");
  writeFileSync(join(folder, "psql"), '#!/bin/sh\necho "$@"\ncat\n', { mode: 0o755 });

  const said = execFileSync("sh", [join(deploy, "postgres/passwords.sh")], {
    env: { PATH: `${folder}:${process.env.PATH}`, SECRETS: folder, POSTGRES_DB: "simcat" },
    encoding: "utf8",
  });

  const options = "--no-psqlrc --set=ON_ERROR_STOP=1 --username=postgres --dbname=simcat";
  expect(said.split("\n")).toEqual([
    `${options} --set=role=simcat_writer --set=password=aa11 --quiet`,
    "ALTER ROLE :\"role\" PASSWORD :'password';",
    `${options} --set=role=simcat_migrator --set=password=bb22 --quiet`,
    "ALTER ROLE :\"role\" PASSWORD :'password';",
    "",
  ]);
});
