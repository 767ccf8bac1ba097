/** The Helm chart: renders to the manifests of deploy/kubernetes, to valid objects, and refuses wrong values. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import manifest from "../../package.json" with { type: "json" };
import { NAMES } from "../../src/config/settings.ts";
import { findProgram } from "../support/programs.ts";
import {
  findOperatorErrors,
  findSchemaErrors,
  type Manifest,
  operatorModels,
  parseManifests,
  readManifests,
  schemas,
} from "./manifests.ts";

const helm = findProgram("helm");
const deploy = fileURLToPath(new URL("../../deploy/", import.meta.url));
const SETTINGS = { SIMCAT_BASE_URL: "https://api.example.com/v1/" };
const ON = { enabled: true };
const OFF = { enabled: false };
const KEPT = { ...SETTINGS, SIMCAT_KEEP_HISTORY: "395d" };
const EVERYTHING = { settings: KEPT, cronJob: ON, prune: ON, networkPolicy: ON, podMonitor: ON, prometheusRule: ON };

/** The objects of a release with these values, which are JSON and so YAML. */
function render(values: object, release = "simcat"): Manifest[] {
  const input = JSON.stringify({ settings: SETTINGS, ...values });
  const args = ["template", release, `${deploy}helm/simcat`, "--values", "-"];
  const text = execFileSync(helm ?? "", args, { input, encoding: "utf8", stdio: "pipe" });
  return parseManifests(text).filter((manifest) => manifest !== null);
}

/** By kind and name. A Job's name ends with the revision in the chart and with a random part otherwise. */
function byName(manifests: readonly Manifest[]): Record<string, Manifest> {
  return Object.fromEntries(
    manifests.map((manifest) => {
      const { name, generateName, ...metadata } = manifest.metadata;
      return [`${manifest.kind} ${name?.replace(/-1$/, "-") ?? generateName}`, { ...manifest, metadata }];
    }),
  );
}

const groupsOf = (file: string) => parse(readFileSync(`${deploy}prometheus/${file}.yaml`, "utf8")).groups;

describe.skipIf(helm === null)("the chart", () => {
  test("renders to the manifests of deploy/kubernetes", () => {
    const rendered = byName([
      ...render({ settings: KEPT, cronJob: ON, prune: ON, networkPolicy: ON, backfill: ON }),
      ...render({ worker: OFF, backfill: { enabled: true, slices: 8 } }),
    ]);
    const { "Secret simcat": _, ...manifests } = byName(readManifests());
    const annotations = { "prometheus.io/scrape": "true", "prometheus.io/port": "9464" };
    const checksum = { "checksum/config": expect.stringMatching(/^[0-9a-f]{64}$/) };
    expect(manifests).toMatchObject({ "Deployment simcat": { spec: { template: { metadata: { annotations } } } } });
    const text = JSON.stringify(manifests).replace(JSON.stringify(annotations), '"ANNOTATIONS"');
    const expected = JSON.parse(text, (_, value) =>
      value === "ANNOTATIONS" ? { ...checksum, ...annotations } : value,
    );
    expect(rendered).toEqual(expected);
  });

  test.skipIf(schemas === null)("renders to valid objects, under other names too", () => {
    const rendered = render({ ...EVERYTHING, backfill: { enabled: true, slices: 3 } }, "north");
    const builtIn = rendered.filter(({ apiVersion }) => !apiVersion.startsWith("monitoring.coreos.com/"));
    expect(findSchemaErrors(builtIn)).toEqual([]);
    expect(Object.keys(byName(rendered)).sort()).toEqual([
      "ConfigMap north-simcat",
      "CronJob north-simcat-prune",
      "CronJob north-simcat-sync",
      "Deployment north-simcat",
      "Job north-simcat-backfill-sliced-",
      "NetworkPolicy north-simcat",
      "PodMonitor north-simcat",
      "PrometheusRule north-simcat",
      "Service north-simcat",
    ]);
  });

  test.skipIf(operatorModels === null)(
    "renders a PodMonitor and a PrometheusRule that fit the operator's types",
    async () => {
      for (const values of [EVERYTHING, { ...EVERYTHING, worker: OFF, podMonitor: OFF }]) {
        const own = render(values).filter(({ apiVersion }) => apiVersion.startsWith("monitoring.coreos.com/"));
        expect((await Promise.all(own.map(findOperatorErrors))).flat()).toEqual([]);
      }
    },
  );

  test("monitors the worker's pods and has the alerts of what is enabled", () => {
    const labels = { release: "prometheus" };
    const monitored = { podMonitor: { ...ON, labels }, prometheusRule: { ...ON, labels } };
    const worker = byName(render(monitored));
    const matchLabels = { "app.kubernetes.io/name": "simcat", "app.kubernetes.io/component": "worker" };
    expect(worker["PodMonitor simcat"]).toMatchObject({
      metadata: { labels: { ...matchLabels, ...labels } },
      spec: { selector: { matchLabels }, podMetricsEndpoints: [{ port: "http", interval: "30s" }] },
    });
    expect(worker["PrometheusRule simcat"]).toMatchObject({
      metadata: { labels: { "app.kubernetes.io/name": "simcat", ...labels } },
      spec: { groups: groupsOf("alerts-worker") },
    });
    const scheduled = byName(render({ ...monitored, worker: OFF, cronJob: ON }));
    expect(scheduled["PodMonitor simcat"]).toBeUndefined();
    expect(scheduled["PrometheusRule simcat"]).toMatchObject({ spec: { groups: groupsOf("alerts-cronjob") } });
  });

  test.each(["simcat", "north", "simcat-north"])(
    "the alerts match the names of jobs in a release %s (fault 290)",
    (release) => {
      const rendered = render({ settings: KEPT, worker: OFF, cronJob: ON, prune: ON, backfill: ON }, release);
      const namesOf = (kind: string) =>
        rendered.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name);
      const alerts = JSON.stringify(groupsOf("alerts-cronjob")).replaceAll("\\", "");
      for (const [kind, label] of Object.entries({ CronJob: "cronjob", Job: "job_name" })) {
        const patterns = [...alerts.matchAll(new RegExp(`\\b${label}=~"([^"]+)"`, "g"))].map(([, pattern]) => pattern);
        expect([patterns.length > 0, namesOf(kind).length > 0]).toEqual([true, true]);
        for (const pattern of patterns)
          for (const name of namesOf(kind)) expect(name).toMatch(new RegExp(`^(?:${pattern})$`));
      }
    },
  );

  test("accepts each setting that it does not make itself", () => {
    const made = /^(SIMCAT_(API_KEY|NOTIFY_URL|SCHEDULE|SLICE)|DATABASE_(DIRECT_)?URL)$/;
    const own = [
      ...NAMES.filter((name) => !made.test(name)),
      "SIMCAT_NOTIFY_URL_FILE",
      "NODE_EXTRA_CA_CERTS",
      "NO_PROXY",
    ];
    const texts = Object.fromEntries(own.map((name) => [name, "text"]));
    const settings = { ...texts, ...SETTINGS, SIMCAT_HTTP_PORT: "9464" };
    expect(byName(render({ settings }))["ConfigMap simcat"]).toMatchObject({ data: settings });
  });

  test("lets pods reach DNS and the given ports, wherever they are (fault 249)", () => {
    const policy = byName(render({ networkPolicy: { ...ON, ports: [8443, 6432] } }))["NetworkPolicy simcat"];
    const ports = [53, 8443, 6432].map((port) => ({ protocol: "TCP", port }));
    expect(policy).toMatchObject({ spec: { egress: [{ ports: [{ protocol: "UDP", port: 53 }, ...ports] }] } });
    expect(JSON.stringify(policy)).not.toContain("ipBlock");
  });

  test.each([
    [{ settings: {} }, "SIMCAT_BASE_URL"],
    [{ settings: { ...SETTINGS, SIMCAT_API_KEY: "secret" } }, "SIMCAT_API_KEY"],
    [{ settings: { ...SETTINGS, SIMCAT_CONCURENCY: "8" } }, "SIMCAT_CONCURENCY"],
    [{ settings: { ...SETTINGS, SIMCAT_API_KEY_FILE: "/key" } }, "SIMCAT_API_KEY_FILE"],
    [{ resources: { limit: { memory: "1Gi" } } }, "limit"],
    [{ networkPolicy: { ...ON, ports: ["https"] } }, "/networkPolicy/ports"],
    [{ cronjob: ON }, "cronjob"],
    [{ schedule: "hourly" }, "/schedule"],
    [{ backfill: { slices: 65 } }, "/backfill/slices"],
    [{ prune: ON }, "SIMCAT_KEEP_HISTORY"],
    [{ settings: { ...SETTINGS, SIMCAT_HTTP_PORT: "http" } }, "SIMCAT_HTTP_PORT"],
    [{ settings: { ...SETTINGS, SIMCAT_HTTP_PORT: "8080" } }, "SIMCAT_HTTP_PORT"],
    [{ backfill: { ...ON, slices: 8, maxRps: 7 } }, "backfill.maxRps"],
  ])("refuses %j (fault 249)", (values, named) => {
    expect(() => render(values)).toThrow(named);
  });
});

test("the chart has the version of the package", () => {
  const chart = parse(readFileSync(`${deploy}helm/simcat/Chart.yaml`, "utf8"));
  expect([chart.version, chart.appVersion]).toEqual([manifest.version, manifest.version]);
});
