import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findFreePorts } from "../../test/support/servers/free-ports.ts";
import { startOwnLivekit } from "../../test/support/servers/own-livekit.ts";
import { Arm, type ArmName } from "./arm.ts";
import { endTree } from "./processes.ts";
import { installerEnvironment } from "../../src/tool/program-environment.ts";

const PEERS = join(import.meta.dirname, "../peers");
const START_MS = 120_000;

/** A folder whose packages are installed separately from Parley's. */
interface Installable {
  readonly folder: string;
  /** A file that exists once the packages are installed. */
  readonly proof: string;
  readonly install: readonly (readonly [command: string, ...args: string[]])[];
}

interface PeerKind extends Installable {
  readonly name: ArmName;
  readonly start: readonly [command: string, ...args: string[]];
  readonly modelVariables: (url: string) => NodeJS.ProcessEnv;
}

const NPM = { proof: "node_modules/.package-lock.json", install: [["npm", "ci", "--no-audit", "--no-fund"]] } as const;

/** The browser clients of other projects. The size of each bundle is measured. */
export const CLIENTS: Installable = { folder: join(PEERS, "clients"), ...NPM };

export const AGENTS_JS: PeerKind = {
  name: "agents-js",
  folder: join(PEERS, "agents-js"),
  ...NPM,
  start: [process.execPath, "agent.ts", "start"],
  modelVariables: (url) => ({ OPENAI_BASE_URL: `${url}/agents-js/v1`, OPENAI_API_KEY: "bench" }),
};

export const AGENTS_JS_VOICE: PeerKind = { ...AGENTS_JS, start: [process.execPath, "voice-agent.ts", "start"] };

export const AGENTS_PYTHON: PeerKind = {
  name: "agents-python",
  folder: join(PEERS, "agents-python"),
  proof: ".venv/installed",
  install: [
    ["python3", "-m", "venv", ".venv"],
    [".venv/bin/pip", "install", "--quiet", "--requirement", "requirements.txt"],
    ["touch", ".venv/installed"],
  ],
  start: [".venv/bin/python", "agent.py", "start"],
  modelVariables: (url) => ({ ANTHROPIC_BASE_URL: `${url}/agents-python`, ANTHROPIC_API_KEY: "bench" }),
};

/** Installs the packages, unless they are installed already. @throws if that is not possible on this machine */
export function installPeer({ folder, proof, install }: Installable, progress: (line: string) => void): void {
  if (existsSync(join(folder, proof))) return;
  progress(`installing ${folder}`);
  for (const [command, ...args] of install)
    execFileSync(command, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"], env: installerEnvironment() });
}

/** Starts a stock agent as documented. Resolves when the agent has registered with LiveKit. */
export async function startPeer(kind: PeerKind, modelUrl: string): Promise<Arm> {
  await using starting = new AsyncDisposableStack();
  const livekit = await startOwnLivekit();
  starting.defer(() => livekit.close());
  const [command, ...args] = kind.start;
  const child = spawn(command, args, {
    cwd: kind.folder,
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      // With any other value, rtc-node logs each of its steps.
      NODE_ENV: "production",
      LIVEKIT_URL: livekit.url,
      LIVEKIT_API_KEY: livekit.apiKey,
      LIVEKIT_API_SECRET: livekit.apiSecret,
      AGENT_PORT: String(await findFreePorts(1)),
      ...kind.modelVariables(modelUrl),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const pid = Number(child.pid);
  starting.defer(() => endTree(pid));
  const registered = Promise.withResolvers<void>();
  let output = "";
  const read = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-10_000);
    if (output.includes("registered worker")) registered.resolve();
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  child.on("error", registered.reject);
  const fail = (what: string) => registered.reject(new Error(`${kind.name} ${what}:\n${output}`));
  child.on("exit", () => fail("has ended"));
  const late = setTimeout(() => fail(`did not register within ${START_MS} ms`), START_MS);
  await registered.promise.finally(() => clearTimeout(late));
  return new Arm({ name: kind.name, pid, livekit, toolWay: "rpc", cleanup: starting.move() });
}
