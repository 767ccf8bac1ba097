/** The manifests of deploy/kubernetes: valid for Kubernetes, safe, and right about what exit codes mean. */
import type { Deployment } from "kubernetes-types/apps/v1.js";
import type { CronJob, Job, JobSpec } from "kubernetes-types/batch/v1.js";
import type { ConfigMap, PodSpec, Secret, Service } from "kubernetes-types/core/v1.js";
import type { NetworkPolicy } from "kubernetes-types/networking/v1.js";
import { expect, test } from "vitest";
import { NAMES, SECRET_NAMES } from "../../src/config/settings.ts";
import { findUnknownSettings, loadConfig } from "../../src/config.ts";
import { EXIT } from "../../src/errors.ts";
import { findSchemaErrors, readManifests, schemas } from "./manifests.ts";

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
  const found = manifests.filter((one) => one.kind === kind && (name === undefined || one.metadata.name === name));
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
  const kinds = manifests.map(({ kind }) => kind).sort();
  expect(kinds.join(" ")).toBe("ConfigMap CronJob CronJob Deployment Job Job NetworkPolicy Secret Service");
});

test.skipIf(schemas === null)("each is valid by the strict JSON schemas that Kubernetes publishes", () => {
  expect(findSchemaErrors(manifests)).toEqual([]);
});

test.each(Object.entries(pods))(
  "the pod of %s is unprivileged, has limits, and finds its secrets in files",
  (command, pod) => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      // The addresses of Services could look like settings.
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 30,
      securityContext: { runAsNonRoot: true, fsGroup: 1000, seccompProfile: { type: "RuntimeDefault" } },
      volumes: [{ name: "secrets", secret: { secretName: the("Secret").metadata?.name, defaultMode: 0o440 } }],
      containers: [
        {
          args: command.split(" ", 1),
          image: expect.stringMatching(/:\d+\.\d+\.\d+$/),
          envFrom: [{ configMapRef: { name: the("ConfigMap").metadata?.name } }],
          resources: { requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "512Mi" } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          volumeMounts: [{ name: "secrets", mountPath: "/run/secrets/simcat", readOnly: true }],
        },
      ],
    });
    const [container] = pod?.containers ?? [];
    expect(container?.command).toBeUndefined();
    expect(container?.env?.filter(({ name }) => name.endsWith("_FILE"))).toEqual([
      { name: "SIMCAT_API_KEY_FILE", value: "/run/secrets/simcat/api-key" },
      { name: "DATABASE_URL_FILE", value: "/run/secrets/simcat/database-url" },
      { name: "DATABASE_DIRECT_URL_FILE", value: "/run/secrets/simcat/database-direct-url" },
    ]);
  },
);

test("the settings are simcat's, it accepts the examples, and the example of the Secret holds no secret", () => {
  const { data = {} } = the("ConfigMap");
  const { stringData = {} } = the("Secret");
  expect(Object.keys(stringData)).toEqual(["api-key", "database-url", "database-direct-url"]);
  expect(Object.values(stringData).filter((value) => !value.includes("REPLACE"))).toEqual([]);
  const given = Object.keys(data);
  expect(given.filter((name) => !NAMES.some((known) => known === name))).toEqual([]);
  expect(given.filter((name) => SECRET_NAMES.some((secret) => name.startsWith(secret)))).toEqual([]);
  const secrets = {
    SIMCAT_API_KEY: stringData["api-key"],
    DATABASE_URL: stringData["database-url"],
    DATABASE_DIRECT_URL: stringData["database-direct-url"],
  };
  const environment = { ...data, ...secrets };
  expect(() => loadConfig(environment, { service: true, database: true })).not.toThrow();
  expect(findUnknownSettings(environment)).toEqual([]);
});

/** The job's outcome for an exit code of its container. */
function endOf(job: JobSpec | undefined, exitCode: number): string {
  const rule = job?.podFailurePolicy?.rules.find(({ onExitCodes }) => onExitCodes?.values.includes(exitCode));
  return rule?.action ?? "tried again";
}

test.each(Object.entries(jobs))("the job of %s tries again what waiting can heal, and nothing else", (_, job) => {
  const fail = job === sliced ? "FailIndex" : "FailJob";
  const { ok, ...codes } = EXIT;
  expect(Object.fromEntries(Object.entries(codes).map(([name, code]) => [name, endOf(job, code)]))).toEqual({
    failed: "tried again",
    output_failed: "tried again",
    partial: fail,
    held: fail,
    usage: fail,
    source_unavailable: "tried again",
    database_failed: "tried again",
    busy: "tried again",
    lost_lease: "tried again",
    source_untrusted: fail,
    unauthorized: fail,
    configuration: fail,
    hung_up: "tried again",
    interrupted: "tried again",
    terminated: "tried again",
  });
  // An eviction does not count, and every attempt's exit code stays visible.
  const onPodConditions = [{ type: "DisruptionTarget", status: "True" }];
  const onExitCodes = { containerName: "simcat" };
  expect(job?.podFailurePolicy?.rules).toMatchObject([
    { action: "Ignore", onPodConditions },
    { onExitCodes },
    { onExitCodes },
  ]);
  expect(job?.template.spec?.restartPolicy).toBe("Never");
});

test("scheduled jobs never overlap, a run that hangs is ended, and a backfill has no deadline", () => {
  const daily = { timeZone: "Etc/UTC", concurrencyPolicy: "Forbid" };
  expect(cronJob).toMatchObject({ schedule: "*/15 * * * *", startingDeadlineSeconds: 300, ...daily });
  expect(jobs.sync).toMatchObject({ backoffLimit: 2, activeDeadlineSeconds: 3600 });
  expect(jobs.backfill?.activeDeadlineSeconds).toBeUndefined();
  expect(jobs.backfill).toMatchObject({ backoffLimit: 6, ttlSecondsAfterFinished: 7 * 86_400 });
  expect(pruneJob).toMatchObject({ schedule: "40 3 * * *", ...daily });
  // A prune waits for a run that is in progress, and fails at once without SIMCAT_KEEP_HISTORY.
  const prune = pruneJob?.jobTemplate.spec;
  expect(prune).toMatchObject({
    backoffLimit: 8,
    podFailurePolicy: {
      rules: [{ action: "Ignore" }, { action: "FailJob", onExitCodes: { values: [EXIT.usage, EXIT.configuration] } }],
    },
  });
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

test("there is one worker, probed where it answers, and its Service finds it even when it is not ready", () => {
  const { spec } = the("Deployment");
  const matchLabels = spec?.selector.matchLabels;
  expect(spec).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
  expect(spec?.template.metadata?.labels).toEqual(matchLabels);
  expect(pods.start?.containers[0]).toMatchObject({
    ports: [{ name: "http", containerPort: 9464 }],
    startupProbe: { httpGet: { path: "/healthz", port: "http" } },
    livenessProbe: { httpGet: { path: "/healthz", port: "http" } },
    readinessProbe: { httpGet: { path: "/readyz", port: "http" } },
  });
  const ports = [{ name: "http", port: 9464, targetPort: "http" }];
  expect(the("Service").spec).toEqual({ selector: matchLabels, ports, publishNotReadyAddresses: true });
});

test("the NetworkPolicy is for all of simcat's pods", () => {
  const label = { "app.kubernetes.io/name": "simcat" };
  expect(the("NetworkPolicy").spec?.podSelector).toEqual({ matchLabels: label });
  const templates = [
    ...Object.values(jobs).map((job) => job?.template),
    the("Deployment").spec?.template,
    pruneJob?.jobTemplate.spec?.template,
  ];
  expect(templates).toHaveLength(Object.keys(pods).length);
  for (const template of templates) expect(template?.metadata?.labels).toMatchObject(label);
});
