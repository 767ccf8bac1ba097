/** The manifests of deploy/kubernetes: valid for Kubernetes, safe, and right about what exit codes mean. */
import type { Deployment } from "kubernetes-types/apps/v1.js";
import type { CronJob, Job, JobSpec } from "kubernetes-types/batch/v1.js";
import type { ConfigMap, PodSpec, Secret, Service } from "kubernetes-types/core/v1.js";
import type { NetworkPolicy } from "kubernetes-types/networking/v1.js";
import { describe, expect, test } from "vitest";
import { NAMES, SECRET_NAMES } from "../../src/config/settings.ts";
import { loadConfig } from "../../src/config.ts";
import { EXIT } from "../../src/errors.ts";
import { checkTypes, readManifests } from "./manifests.ts";

interface Kinds {
  ConfigMap: ConfigMap;
  CronJob: CronJob;
  Deployment: Deployment;
  Job: Job;
  NetworkPolicy: NetworkPolicy;
  Secret: Secret;
  Service: Service;
}

const manifests = readManifests();

function the<Kind extends keyof Kinds>(kind: Kind, name?: string): Kinds[Kind] {
  const found = manifests.filter((manifest) => {
    const named = manifest as { metadata?: { name?: string } };
    return manifest.kind === kind && (name === undefined || named.metadata?.name === name);
  });
  expect(found).toHaveLength(1);
  return found[0] as Kinds[Kind];
}

const cronJob = the("CronJob", "simcat-sync").spec;
const pruneJob = the("CronJob", "simcat-prune").spec;
const isIndexed = (manifest: Job) => manifest.spec?.completionMode === "Indexed";
const backfills = manifests.filter(({ kind }) => kind === "Job") as Job[];
const sliced = backfills.find(isIndexed)?.spec;
const jobs: Record<string, JobSpec | undefined> = {
  sync: cronJob?.jobTemplate.spec,
  backfill: backfills.find((job) => !isIndexed(job))?.spec,
  "backfill in slices": sliced,
};
const pods: Record<string, PodSpec | undefined> = {
  sync: jobs.sync?.template.spec,
  backfill: jobs.backfill?.template.spec,
  "backfill in slices": sliced?.template.spec,
  start: the("Deployment").spec?.template.spec,
  prune: pruneJob?.jobTemplate.spec?.template.spec,
};

test("there are the three ways of use, and what they share", () => {
  expect(manifests.map(({ kind }) => kind).sort()).toEqual([
    "ConfigMap",
    "CronJob",
    "CronJob",
    "Deployment",
    "Job",
    "Job",
    "NetworkPolicy",
    "Secret",
    "Service",
  ]);
});

test("each is what Kubernetes' API describes: no field is misspelt, none has the wrong type", async () => {
  expect(await checkTypes(manifests)).toBe("");
});

test("a misspelt field would be noticed, and so would a wrong type", async () => {
  const [first] = manifests.filter(({ kind }) => kind === "CronJob");
  const misspelt = {
    ...first,
    apiVersion: "batch/v1",
    kind: "CronJob",
    spec: { ...cronJob, concurencyPolicy: "Forbid" },
  };
  const wrong = { ...first, apiVersion: "batch/v1", kind: "CronJob", spec: { ...cronJob, suspend: "no" } };

  expect(await checkTypes([misspelt])).toContain(`"concurencyPolicy"' does not exist in type 'CronJobSpec'`);
  expect(await checkTypes([wrong])).toContain("Type 'string' is not assignable to type 'boolean | undefined'");
});

describe.each(Object.entries(pods))("the pod of %s", (command, pod) => {
  const container = pod?.containers[0];

  test("runs that command as an unprivileged user on a read-only file system", () => {
    expect(pod?.containers).toHaveLength(1);
    expect(container?.args).toEqual(command.split(" ", 1));
    expect(container?.command).toBeUndefined();
    expect(pod?.securityContext).toEqual({
      runAsNonRoot: true,
      fsGroup: 1000,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(pod?.automountServiceAccountToken).toBe(false);
  });

  test("has time to end a run, a limit of memory, and an image by its version", () => {
    expect(pod?.terminationGracePeriodSeconds).toBe(30);
    expect(container?.resources).toEqual({
      requests: { cpu: "100m", memory: "256Mi" },
      limits: { memory: "512Mi" },
    });
    expect(container?.image).toMatch(/:\d+\.\d+\.\d+$/);
  });

  test("finds the secrets in files that the Secret has, readable by its group", () => {
    const secrets = Object.keys(the("Secret").stringData ?? {});
    expect(container?.env?.filter(({ name }) => name.endsWith("_FILE"))).toEqual([
      { name: "SIMCAT_API_KEY_FILE", value: "/run/secrets/simcat/api-key" },
      { name: "DATABASE_URL_FILE", value: "/run/secrets/simcat/database-url" },
      { name: "DATABASE_DIRECT_URL_FILE", value: "/run/secrets/simcat/database-direct-url" },
    ]);
    const files = container?.env?.filter(({ name }) => name.endsWith("_FILE")) ?? [];
    expect(files.map(({ value }) => value?.split("/").at(-1))).toEqual(secrets);
    expect(container?.envFrom).toEqual([{ configMapRef: { name: the("ConfigMap").metadata?.name } }]);
    expect(container?.volumeMounts).toEqual([{ name: "secrets", mountPath: "/run/secrets/simcat", readOnly: true }]);
    expect(pod?.volumes).toEqual([
      { name: "secrets", secret: { secretName: the("Secret").metadata?.name, defaultMode: 0o440 } },
    ]);
  });

  test("is not given the addresses of Services, which could look like settings", () => {
    expect(pod?.enableServiceLinks).toBe(false);
  });
});

test("the settings are simcat's, and it accepts the examples", () => {
  const { data = {} } = the("ConfigMap");
  const { stringData = {} } = the("Secret");
  const given = Object.keys(data);
  expect(given.filter((name) => !NAMES.some((known) => known === name))).toEqual([]);
  expect(given.filter((name) => SECRET_NAMES.some((secret) => name.startsWith(secret)))).toEqual([]);

  const config = loadConfig(
    {
      ...data,
      SIMCAT_API_KEY: stringData["api-key"],
      DATABASE_URL: stringData["database-url"],
      DATABASE_DIRECT_URL: stringData["database-direct-url"],
    },
    { service: true, database: true },
  );

  expect(config.unknown).toEqual([]);
});

test("the Secret's example holds no secret", () => {
  const values = Object.values(the("Secret").stringData ?? {});
  expect(values.filter((value) => !value.includes("REPLACE"))).toEqual([]);
});

/** The job's outcome for an exit code of its container. */
function endOf(job: JobSpec | undefined, exitCode: number): string {
  const rule = job?.podFailurePolicy?.rules.find(({ onExitCodes }) => onExitCodes?.values.includes(exitCode));
  return rule?.action ?? "tried again";
}

describe.each(Object.entries(jobs))("the job of %s", (_, job) => {
  const fail = job === sliced ? "FailIndex" : "FailJob";

  test("tries again what waiting can heal, and nothing else", () => {
    const { ok: _, ...codes } = EXIT;
    expect(Object.fromEntries(Object.entries(codes).map(([name, code]) => [name, endOf(job, code)]))).toEqual({
      failed: "tried again",
      partial: fail,
      held: fail,
      usage: fail,
      sourceUnavailable: "tried again",
      databaseFailed: "tried again",
      busy: "tried again",
      sourceUntrusted: fail,
      unauthorized: fail,
      configuration: fail,
      hungUp: "tried again",
      interrupted: "tried again",
      terminated: "tried again",
    });
  });

  test("does not count an eviction, and shows every attempt's exit code", () => {
    expect(job?.podFailurePolicy?.rules[0]).toEqual({
      action: "Ignore",
      onPodConditions: [{ type: "DisruptionTarget", status: "True" }],
    });
    expect(job?.template.spec?.restartPolicy).toBe("Never");
    const rules = job?.podFailurePolicy?.rules.slice(1) ?? [];
    expect(rules.map(({ onExitCodes }) => onExitCodes?.containerName)).toEqual(["simcat", "simcat"]);
  });
});

test("the CronJob never has two runs at once, and gives up one that hangs", () => {
  expect({ ...cronJob, jobTemplate: undefined }).toEqual({
    schedule: "*/15 * * * *",
    timeZone: "Etc/UTC",
    concurrencyPolicy: "Forbid",
    startingDeadlineSeconds: 300,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 3,
  });
  expect(jobs.sync).toMatchObject({ backoffLimit: 2, activeDeadlineSeconds: 3600 });
});

test("each index of the sliced backfill is a slice with its share of a rate, and its failure is its own", () => {
  expect(sliced).toMatchObject({ completions: 8, parallelism: 4, backoffLimitPerIndex: 6, maxFailedIndexes: 8 });
  expect(sliced?.backoffLimit).toBeUndefined();
  const own = sliced?.template.spec?.containers[0]?.env?.filter(({ name }) => !name.endsWith("_FILE")) ?? [];
  const settings = {
    ...Object.fromEntries(own.map(({ name, value = "" }) => [name, value])),
    SIMCAT_API_KEY: "some-key",
  };
  const config = (index: number) =>
    loadConfig(
      { ...settings, ...the("ConfigMap").data, JOB_COMPLETION_INDEX: `${index}` },
      { service: true, database: true },
    );
  const { completions = 0 } = sliced ?? {};
  const slices = Array.from({ length: completions }, (_, index) => config(index).slice);
  expect(slices).toEqual(slices.map((_, at) => ({ index: at + 1, count: completions })));
});

test("the backfill may take as long as it takes, and is gone some time after its end", () => {
  expect(jobs.backfill?.activeDeadlineSeconds).toBeUndefined();
  expect(jobs.backfill).toMatchObject({ backoffLimit: 6, ttlSecondsAfterFinished: 7 * 86_400 });
});

test("there is one worker, probed where it answers, and its Service finds it even when it is not ready", () => {
  const { spec } = the("Deployment");
  const container = pods.start?.containers[0];
  expect(spec?.replicas).toBe(1);
  expect(spec?.strategy).toEqual({ type: "Recreate" });
  expect(spec?.template.metadata?.labels).toEqual(spec?.selector.matchLabels);
  expect(container?.ports).toEqual([{ name: "http", containerPort: 9464 }]);
  expect(container?.startupProbe?.httpGet).toEqual({ path: "/healthz", port: "http" });
  expect(container?.livenessProbe?.httpGet).toEqual({ path: "/healthz", port: "http" });
  expect(container?.readinessProbe?.httpGet).toEqual({ path: "/readyz", port: "http" });
  expect(the("Service").spec).toEqual({
    selector: spec?.selector.matchLabels,
    ports: [{ name: "http", port: 9464, targetPort: "http" }],
    publishNotReadyAddresses: true,
  });
});

test("the NetworkPolicy is for all of simcat's pods", () => {
  expect(the("NetworkPolicy").spec?.podSelector).toEqual({ matchLabels: { "app.kubernetes.io/name": "simcat" } });
  const templates = [
    jobs.sync?.template,
    jobs.backfill?.template,
    sliced?.template,
    the("Deployment").spec?.template,
    pruneJob?.jobTemplate.spec?.template,
  ];
  expect(templates.map((template) => template?.metadata?.labels?.["app.kubernetes.io/name"])).toEqual([
    "simcat",
    "simcat",
    "simcat",
    "simcat",
    "simcat",
  ]);
});

test("the daily prune waits for a run that is in progress, and fails at once without SIMCAT_KEEP_HISTORY", () => {
  const spec = pruneJob?.jobTemplate.spec;
  expect({ schedule: pruneJob?.schedule, zone: pruneJob?.timeZone, policy: pruneJob?.concurrencyPolicy }).toEqual({
    schedule: "40 3 * * *",
    zone: "Etc/UTC",
    policy: "Forbid",
  });
  expect(spec?.podFailurePolicy?.rules.map(({ action, onExitCodes }) => [action, onExitCodes?.values])).toEqual([
    ["Ignore", undefined],
    ["FailJob", [EXIT.usage, EXIT.configuration]],
  ]);
  expect(spec?.backoffLimit).toBe(8);
});
