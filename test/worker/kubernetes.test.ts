import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pino } from "pino";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { createHttpServer } from "../../src/http/http-server.ts";
import { loadConfig } from "../../src/worker/settings/load-config.ts";
import { VARIABLES } from "../../src/worker/settings/environment.ts";
import { missingSettings } from "../../src/worker/settings/missing-settings.ts";
import { printedSeries } from "./telemetry/printed-series.ts";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, "deploy/kubernetes");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container {
  readonly image: string;
  readonly command?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly envFrom?: readonly object[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly resources: { readonly requests: object; readonly limits: object };
  readonly securityContext: object;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}
interface PodTemplate {
  readonly metadata: { readonly labels: object; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly enableServiceLinks: boolean;
    readonly automountServiceAccountToken: boolean;
    readonly terminationGracePeriodSeconds: number;
    readonly securityContext: object;
    readonly containers: readonly [Container];
    readonly volumes?: readonly { readonly name: string; readonly emptyDir: object }[];
  };
}
interface Policy {
  readonly podSelector: { readonly matchLabels: object };
  readonly ingress?: readonly { readonly ports: readonly { readonly port: string }[] }[];
  readonly egress: readonly { readonly ports: readonly { readonly protocol: string; readonly port: number }[] }[];
}
interface Selected {
  readonly selector: { readonly matchLabels: object };
}
interface Specs {
  readonly Deployment: Selected & {
    readonly replicas: number;
    readonly strategy: object;
    readonly template: PodTemplate;
  };
  readonly Job: { readonly template: PodTemplate };
  readonly Service: {
    readonly selector: object;
    readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
  };
  readonly PodDisruptionBudget: Selected;
  readonly NetworkPolicy: Policy;
  readonly ScaledObject: {
    readonly scaleTargetRef: { readonly name: string };
    readonly minReplicaCount: number;
    readonly triggers: readonly [{ readonly metadata: { readonly query: string; readonly threshold: string } }];
  };
}
interface Manifest<Spec> {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: object };
  readonly spec: Spec;
}
interface Kustomization {
  readonly resources: readonly string[];
  readonly components?: readonly string[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly literals: readonly string[] }[];
}

const manifests = globSync(join(FOLDER, "{base,autoscaling}/*.yaml"))
  .filter((path) => basename(path) !== "kustomization.yaml")
  .flatMap((path) => parseAllDocuments(readFileSync(path, "utf8")))
  .map((document) => document.toJS() as Manifest<unknown>);

function all<Kind extends keyof Specs>(kind: Kind): Manifest<Specs[Kind]>[] {
  return manifests.filter((manifest) => manifest.kind === kind) as Manifest<Specs[Kind]>[];
}

/** The only resource of its kind. */
function only<Kind extends keyof Specs>(kind: Kind): Manifest<Specs[Kind]> {
  const [found] = all(kind);
  if (!found) throw new Error(`There is no ${kind}`);
  return found;
}

function kustomization(folder: string): Kustomization {
  return parse(read(`deploy/kubernetes/${folder}/kustomization.yaml`)) as Kustomization;
}

const worker = only("Deployment").spec.template;
const migration = only("Job").spec.template;
const [container] = worker.spec.containers;
const ports = new Map((container.ports ?? []).map(({ name, containerPort }) => [name, containerPort]));

function literals(folder: string): Record<string, string> {
  const lines = (kustomization(folder).configMapGenerator ?? []).flatMap((each) => each.literals);
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

/** The environment of a worker in the example, except for the Secret. */
function environment(): Record<string, string> {
  const own = container.env.map(({ name, value = "" }) => [name, value]);
  return { ...literals("base"), ...literals("example"), ...(Object.fromEntries(own) as Record<string, string>) };
}

/** The names in the Secret that the page creates. */
function secretNames(): string[] {
  const [, block = ""] = /^```\n(# parley\.env\n.*?)^```/ms.exec(read("docs/kubernetes.md")) ?? [];
  return Array.from(block.matchAll(/^([A-Z_]+)=/gm), ([, name = ""]) => name);
}

test("every file is in its kustomization", () => {
  const listed = ["base", "autoscaling"].flatMap((folder) =>
    kustomization(folder).resources.map((name) => join(folder, name)),
  );
  const there = globSync("{base,autoscaling}/*.yaml", { cwd: FOLDER });

  expect(there.filter((path) => basename(path) !== "kustomization.yaml").toSorted()).toEqual(listed.toSorted());
  const { resources, components = [] } = kustomization("example");
  expect([...resources, ...components].map((path) => basename(path))).toEqual(["base", "autoscaling"]);
});

test("the worker reads every variable that is set, and the example sets everything that it needs", async () => {
  const secrets = Object.fromEntries(secretNames().map((name) => [name, "a-secret-of-32-characters-or-more"]));
  const env = { ...environment(), ...secrets, DATABASE_URL: "postgres://parley@postgres/parley" };
  const names = [...Object.keys(env), ...migration.spec.containers[0].env.map(({ name }) => name)];

  expect(names.filter((name) => !(name in VARIABLES))).toEqual([]);
  expect(missingSettings(await loadConfig({ ...env }, ROOT), true)).toEqual([]);
});

test("a worker speaks only if a voice is chosen, and then serves fewer sessions", async () => {
  const { speech } = await loadConfig({ ...environment() }, ROOT);

  expect(speech).toMatchObject({ tts: "none", stt: "none" });
  expect(read("docs/kubernetes.md")).toContain("`TTS` is `none` and `MAX_SESSIONS` is 50, for 1 CPU");
});

test("secrets are referenced and never contained", () => {
  const set = [worker, migration].flatMap(({ spec }) => spec.containers[0].env);
  const isSecret = (name: string) => /(?:_KEY|SECRET|PASSWORD)$/.test(name) || name === "DATABASE_URL";
  const written = [...set.filter((each) => "value" in each).map(({ name }) => name), ...Object.keys(environment())];

  expect(manifests.filter(({ kind }) => kind === "Secret")).toEqual([]);
  expect(written.filter(isSecret)).toEqual([]);
  expect(container.envFrom).toContainEqual({ secretRef: { name: "parley" } });
  expect(secretNames().length).toBeGreaterThan(3);
});

test("the worker's ports are those it listens on, and everything else refers to them", () => {
  const { HTTP_PORT, GRPC_PORT, HTTP_HOST } = environment();
  const [service] = all("Service");
  const incoming = all("NetworkPolicy").flatMap(({ spec }) => (spec.ingress ?? []).flatMap((rule) => rule.ports));

  expect(Object.fromEntries(ports)).toEqual({ http: Number(HTTP_PORT), grpc: Number(GRPC_PORT) });
  expect(HTTP_HOST).toBe("0.0.0.0");
  expect(read("Dockerfile")).toContain(`EXPOSE ${HTTP_PORT} ${GRPC_PORT}\n`);
  for (const { port, targetPort } of service?.spec.ports ?? []) expect(port).toBe(ports.get(targetPort));
  expect(new Set(incoming.map(({ port }) => port))).toEqual(new Set(ports.keys()));
});

test("probes and scraping use routes on the worker's port", () => {
  const app = createHttpServer({
    logger: pino({ enabled: false }),
    livekit: { url: "ws://livekit", apiKey: "key", apiSecret: "secret" },
    publicUrl: "ws://livekit",
    checks: [],
    token: { isOpen: false, secret: undefined },
    metrics: () => "",
  });
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const annotations = worker.metadata.annotations ?? {};
  const probes = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
  const paths = [...probes.map(({ path }) => path), annotations["prometheus.io/path"] ?? ""];

  expect(paths).toEqual(["/health", "/health", "/ready", "/metrics"]);
  expect(paths.filter((url) => !app.hasRoute({ method: "GET", url }))).toEqual([]);
  expect(probes.map(({ port }) => port)).toEqual(["http", "http", "http"]);
  expect(annotations["prometheus.io/port"]).toBe(String(ports.get("http")));
});

test("the worker runs the image's command, and the migration the same with --migrate", () => {
  const [, command = ""] = /^CMD (.*)$/m.exec(read("Dockerfile")) ?? [];

  expect(container.command).toBeUndefined();
  expect(migration.spec.containers[0].command).toEqual([...(JSON.parse(command) as string[]), "--migrate"]);
  expect(migration.spec.containers[0].image).toBe(container.image);
});

test("a worker that is stopped has time for its pause, for handing its sessions over, and for exiting", () => {
  const { lifecycle } = container;
  const stopSeconds = 10;

  const needed = lifecycle.preStop.sleep.seconds + Number(environment()["DRAIN_SECONDS"]) + stopSeconds;

  expect(worker.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed);
  expect(read("docs/operating.md")).toContain(`This takes less than ${stopSeconds} s`);
  expect(only("Deployment").spec.strategy).toMatchObject({ rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
});

test("the number of workers depends on a figure that /metrics prints, and leaves free places in each", async () => {
  const { spec } = only("ScaledObject");
  const { query, threshold } = spec.triggers[0].metadata;
  const asked = query.match(/[a-z]+_[a-z_]+/g) ?? [];
  const printed = await printedSeries();

  expect(asked.length).toBeGreaterThan(0);
  expect(asked.filter((name) => !printed.has(name))).toEqual([]);
  expect(Number(threshold) / Number(environment()["MAX_SESSIONS"])).toBeCloseTo(0.7);
  expect(spec.scaleTargetRef.name).toBe(only("Deployment").metadata.name);
  expect(spec.minReplicaCount).toBe(only("Deployment").spec.replicas);
});

test("every selector for the workers' labels matches their pods", () => {
  const selectors = [
    only("Deployment").spec.selector.matchLabels,
    only("PodDisruptionBudget").spec.selector.matchLabels,
    only("Service").spec.selector,
    ...all("NetworkPolicy").map(({ spec }) => spec.podSelector.matchLabels),
  ];

  expect(selectors).toHaveLength(5);
  for (const labels of selectors) expect(worker.metadata.labels).toMatchObject(labels);
});

test("the worker may reach the ports in livekit.yaml and the ports of its services", () => {
  const livekit = parse(read("livekit.yaml")) as { port: number; rtc: { tcp_port: number; udp_port: number } };
  const open = all("NetworkPolicy").flatMap(({ spec }) => spec.egress.flatMap((rule) => rule.ports));
  const needed = [
    { protocol: "TCP", port: livekit.port },
    { protocol: "TCP", port: livekit.rtc.tcp_port },
    { protocol: "UDP", port: livekit.rtc.udp_port },
    { protocol: "TCP", port: 5432 },
    { protocol: "TCP", port: 443 },
    { protocol: "UDP", port: 53 },
  ];

  expect(open).toEqual(expect.arrayContaining(needed));
});

test.each([
  ["worker", worker],
  ["migration", migration],
] as const)("the %s's pod has only the rights that it needs, and its own variables", (_name, { spec }) => {
  const [own] = spec.containers;

  expect(spec).toMatchObject({
    // For a service named livekit, Kubernetes would set LIVEKIT_PORT to an address, and the worker would refuse to
    // start.
    enableServiceLinks: false,
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
  });
  expect(own.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  expect(Object.keys(own.resources.requests)).toEqual(["cpu", "memory"]);
  // A CPU limit would delay all sessions when many start at once.
  expect(Object.keys(own.resources.limits)).toEqual(["memory"]);
});

test("the worker can write only to /tmp, which the image uses as its home", () => {
  const [tmp, ...others] = container.volumeMounts ?? [];

  expect([tmp?.mountPath, others]).toEqual(["/tmp", []]);
  expect(worker.spec.volumes?.map(({ name }) => name)).toEqual([tmp?.name]);
  expect(read("Dockerfile")).toMatch(/^ENV .*\bHOME=\/tmp$/m);
});
