import type { ChildProcess } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Browser } from "playwright-core";
import { parse } from "yaml";
import { createId } from "../../../src/lib/id.ts";
import { runCommand } from "../../support/processes/run-in-our-environment.ts";
import { buildLivekitServer } from "../../../src/worker/services/build-livekit-server.ts";
import { findLivekitServer } from "../../../src/worker/services/provide-livekit-server.ts";
import { startChromium } from "../../support/servers/chromium.ts";
import { debianProgram } from "../../support/servers/debian-program.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { ContainerNetwork } from "./container-network.ts";

const ROOT = join(import.meta.dirname, "../../..");
const CACHE_DIR = join(ROOT, ".cache");
const DOMAIN = "parley.test";
/** The host that issues certificates, in place of Let's Encrypt. */
const AUTHORITY = "authority.test";
/** The servers that LiveKit asks for the machine's public address. */
const STUN_SERVERS = ["global.stun.twilio.com", "stun.l.google.com", "stun1.l.google.com"];
const STUN_PORTS = ["3478", "19302"];
/**
 * Caddy's configuration as a certificate authority. With `skip_install_trust`, this machine does not trust its
 * certificates.
 */
const AUTHORITY_CADDYFILE = `{
  admin off
  skip_install_trust
}
${AUTHORITY} {
  tls internal
  acme_server
}
`;

interface Service {
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?: { readonly default: { readonly ipv4_address: string } };
}

type Services = Record<"livekit" | "worker" | "caddy" | "edge", Service>;
type WorldParts = Pick<TlsWorld, "tokenSecret" | "network" | "browser"> & { readonly edge: ChildProcess };

interface Parts {
  readonly services: Services;
  readonly network: ContainerNetwork;
  readonly folder: string;
}

/** HAProxy's output once it serves requests. */
const LOADED = /Loading success/;

/**
 * The services in deploy/tls/compose.yml, as processes in separate networks, and a browser on another machine. A
 * certificate authority that only this browser trusts, a STUN server and the model are simulated.
 */
export class TlsWorld implements AsyncDisposable {
  readonly url = `https://${DOMAIN}`;
  readonly tokenSecret: string;
  readonly network: ContainerNetwork;
  readonly browser: Browser;
  readonly #edge: ChildProcess;
  readonly #cleanup: AsyncDisposableStack;

  private constructor({ edge, ...parts }: WorldParts, cleanup: AsyncDisposableStack) {
    ({ tokenSecret: this.tokenSecret, network: this.network, browser: this.browser } = parts);
    this.#edge = edge;
    this.#cleanup = cleanup;
  }

  static async start(): Promise<TlsWorld> {
    await using starting = new AsyncDisposableStack();
    const { path: folder } = starting.use(await tempFolder());
    const services = await readServices();
    const network = starting.use(await startNetwork(services, folder));
    const tokenSecret = `${createId()}-for-tokens`;
    const stun = join(ROOT, "test/support/processes/stun-server.ts");
    network.spawn("client", [process.execPath, stun, ContainerNetwork.client, ...STUN_PORTS]);
    const { command: caddy } = await debianProgram({ name: "caddy", path: "usr/bin/caddy" });
    const certificate = await startAuthority(network, caddy, folder);
    const parts = { services, network, folder };
    const home = await homeThatTrusts(certificate, folder);
    const startBrowser = async () => {
      const started = await startChromium(undefined, (chromium) => network.wrap("client", chromium, home));
      starting.defer(() => started.close());
      return started;
    };
    const [browser, edge] = await Promise.all([
      startBrowser(),
      startEdge(parts),
      startCaddy(parts, caddy, certificate),
      startLivekitAndWorker(parts, tokenSecret),
    ]);
    // Loads a first page now: a browser's first page is slow, which should not count against a test's time.
    const page = await browser.newPage();
    await page.goto(`https://${DOMAIN}`);
    await page.close();
    return new TlsWorld({ tokenSecret, network, browser, edge }, starting.move());
  }

  /** Reloads HAProxy, as edge.sh does every day. */
  async reloadEdge(): Promise<void> {
    const reloaded = untilOutput(this.#edge, LOADED);
    this.#edge.kill("SIGUSR2");
    await reloaded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup.disposeAsync();
  }
}

/** The services in deploy/tls/compose.yml, with the values of its variables filled in. */
async function readServices(): Promise<Services> {
  const variables = new Map([
    ["DOMAIN", DOMAIN],
    ["ACME_DIRECTORY", `https://${AUTHORITY}/acme/local/directory`],
  ]);
  const compose = await readFile(join(ROOT, "deploy/tls/compose.yml"), "utf8");
  const text = compose.replaceAll(/\$\{([A-Z_]+)(?::[-?][^}]*)?\}/g, (_, name: string) => variables.get(name) ?? "");
  // Hides the parser's warning about `!override`, a tag of Docker's own that the parser does not support.
  return (parse(text, { logLevel: "error" }) as { readonly services: Services }).services;
}

function addressOf({ networks }: Service): string {
  return networks?.default.ipv4_address ?? "";
}

/** The mounts below /srv: files in the repository, and a folder that replaces the volume `caddy`. */
function filesOf({ volumes = [] }: Service, folder: string): Record<string, string> {
  const mounts = volumes.map((volume) => volume.split(":"));
  return Object.fromEntries(
    mounts.map(([source = "", target = ""]) => [
      target,
      source.startsWith(".") ? join(ROOT, source) : join(folder, source),
    ]),
  );
}

async function startNetwork({ livekit, caddy, edge }: Services, folder: string): Promise<ContainerNetwork> {
  await mkdir(join(folder, "caddy"));
  const worker = "172.30.80.130";
  const containers = {
    livekit: { address: addressOf(livekit), ports: livekit.ports ?? [] },
    caddy: { address: addressOf(caddy), ports: caddy.ports ?? [] },
    edge: { address: "172.30.80.129", ports: edge.ports ?? [], files: filesOf(edge, folder) },
    worker: { address: worker },
  };
  const names = {
    [worker]: ["gateway"],
    [ContainerNetwork.machine]: [DOMAIN, `turn.${DOMAIN}`],
    [ContainerNetwork.client]: [AUTHORITY, ...STUN_SERVERS],
  };
  return ContainerNetwork.start({ folder, containers, names });
}

async function startEdge({ services: { edge }, network }: Parts): Promise<ChildProcess> {
  const { command, libraries } = await debianProgram({ name: "haproxy", path: "usr/sbin/haproxy" });
  const child = network.spawn("edge", edge.command ?? [], {
    ...edge.environment,
    PATH: `${dirname(command)}:${process.env["PATH"]}`,
    LD_LIBRARY_PATH: libraries,
  });
  await untilOutput(child, LOADED);
  return child;
}

async function startCaddy({ services, network, folder }: Parts, caddy: string, authority: string): Promise<void> {
  const command = [caddy, "run", "--config", join(ROOT, "deploy/tls/Caddyfile"), "--adapter", "caddyfile"];
  const child = network.spawn("caddy", command, {
    ...services.caddy.environment,
    XDG_DATA_HOME: join(folder, "caddy"),
    XDG_CONFIG_HOME: folder,
    SSL_CERT_FILE: authority,
  });
  await untilOutput(child, /certificate obtained successfully/);
}

/** Starts LiveKit and the worker with their secrets in files, as in deploy/compose.secrets.yml. */
async function startLivekitAndWorker({ services, network, folder }: Parts, tokenSecret: string): Promise<void> {
  const apiSecret = `${createId()}-for-livekit-with-32-characters`;
  const write = async (name: string, content: string) => {
    const path = join(folder, name);
    await writeFile(path, `${content}\n`, { mode: 0o640 });
    return path;
  };
  const program = (await findLivekitServer(CACHE_DIR)) ?? (await buildLivekitServer(CACHE_DIR, () => {}));
  const livekit = network.spawn("livekit", [program, "--config", join(ROOT, "deploy/tls/livekit.yaml")], {
    ...services.livekit.environment,
    LIVEKIT_KEY_FILE: await write("livekit_keys", `key: ${apiSecret}`),
  });
  const worker = network.spawn("worker", [process.execPath, join(ROOT, "src/worker/main.ts"), "--json"], {
    ...services.worker.environment,
    PARLEY_DATA_DIR: join(folder, "data"),
    LIVEKIT_URL: "ws://livekit:7880",
    LIVEKIT_API_KEY: "key",
    LIVEKIT_API_SECRET_FILE: await write("livekit_api_secret", apiSecret),
    TOKEN_SECRET_FILE: await write("token_secret", tokenSecret),
    HTTP_HOST: "0.0.0.0",
    // No speech: it would take the same route as text, and much CPU time.
    STT: "none",
    TTS: "none",
  });
  await Promise.all([untilOutput(livekit, /starting LiveKit server/), untilOutput(worker, /"event":"ready"/)]);
}

/**
 * Starts a certificate authority with ACME, which plays one on the internet. @returns the path of its root certificate
 */
async function startAuthority(network: ContainerNetwork, caddy: string, folder: string): Promise<string> {
  const config = join(folder, "authority");
  await writeFile(config, AUTHORITY_CADDYFILE);
  const data = join(folder, "authority-data");
  const env = { XDG_DATA_HOME: data, XDG_CONFIG_HOME: data };
  const authority = network.spawn("client", [caddy, "run", "--config", config, "--adapter", "caddyfile"], env);
  await untilOutput(authority, /certificate obtained successfully/);
  return join(data, "caddy/pki/authorities/local/root.crt");
}

/** Creates a home folder with which browsers trust this certificate. */
async function homeThatTrusts(certificate: string, folder: string): Promise<string> {
  const home = join(folder, "home");
  const database = join(home, ".pki/nssdb");
  await mkdir(database, { recursive: true });
  const { command, libraries } = await debianProgram({ name: "libnss3-tools", path: "usr/bin/certutil" });
  const place = { env: { ...process.env, LD_LIBRARY_PATH: libraries } };
  await runCommand(command, ["-d", `sql:${database}`, "-N", "--empty-password"], place);
  await runCommand(command, ["-d", `sql:${database}`, "-A", "-t", "C,,", "-n", "test", "-i", certificate], place);
  return home;
}

/** Resolves once a program's output contains this. Rejects with the output if the program exits first. */
async function untilOutput(child: ChildProcess, pattern: RegExp): Promise<void> {
  const said = Promise.withResolvers<void>();
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (pattern.test(output)) said.resolve();
    });
  child.once("close", () => said.reject(new Error(`${child.spawnargs.join(" ")} has ended:\n${output}`)));
  await said.promise;
}
