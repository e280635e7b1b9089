import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { endProcess } from "../../../src/worker/process/end-process.ts";
import { runCommand } from "../../support/processes/run-in-our-environment.ts";
import { ProcessGroupReaper } from "../../../src/tool/process-group-reaper.ts";
import { debianProgram } from "../../support/servers/debian-program.ts";

/**
 * The machine's and the client's addresses. They are reserved for documentation, so they lead nowhere, but they count
 * as public.
 */
const MACHINE = "203.0.113.10";
const CLIENT = "203.0.113.20";
/** The machine's address in the containers' network. */
const GATEWAY = "172.30.80.1";

interface Container {
  readonly address: string;
  /** As in a compose file: `[port:]port[/udp]`. */
  readonly ports?: readonly string[];
  /** Files and folders by their path in the container, which is below /srv. */
  readonly files?: Readonly<Record<string, string>>;
}

interface NetworkOptions {
  readonly folder: string;
  readonly containers: Readonly<Record<string, Container>>;
  /** Additional names for containers, the machine and the client, by address. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
}

/**
 * A network like Docker's, built from Linux namespaces: containers behind a bridge and a NAT. The machine publishes
 * some of their ports to a client on another machine, but not to its own containers, because with Docker that path is
 * not always open. Nothing else is reachable. Needs root.
 */
export class ContainerNetwork implements AsyncDisposable {
  static readonly machine = MACHINE;
  static readonly client = CLIENT;
  readonly #folder: string;
  readonly #cleanup = new AsyncDisposableStack();
  /**
   * By place (a container's name, `machine` or `client`): the id of the process that keeps the place's namespaces open.
   */
  readonly #holders = new Map<string, number>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async start({ folder, containers, names = {} }: NetworkOptions): Promise<ContainerNetwork> {
    const network = new ContainerNetwork(folder);
    try {
      const lines = Object.entries(containers).map(([name, { address }]) => `${address} ${name}`);
      for (const [address, more] of Object.entries(names)) lines.push(`${address} ${more.join(" ")}`);
      await writeFile(join(folder, "hosts"), `127.0.0.1 localhost\n${lines.join("\n")}\n`);
      await network.#addMachine(containers);
      for (const [name, container] of Object.entries(containers)) await network.#addContainer(name, container);
      return network;
    } catch (error) {
      await network[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts a program in a container, or on the client. It ends with the network. */
  spawn(place: string, command: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    const [program = "", ...args] = this.#inside(place, command);
    const reaper = new ProcessGroupReaper();
    const child = spawn(program, args, {
      env: { PATH: process.env["PATH"], ...env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    reaper.watch(child.pid);
    child.once("close", () => reaper.end());
    this.#cleanup.defer(async () => {
      if (child.exitCode !== null || child.pid === undefined) return;
      // On the first signal, LiveKit waits for its participants. On the second, it exits.
      await endProcess(child.pid, { signals: ["SIGTERM", "SIGTERM"], graceMs: 10_000 });
    });
    return child;
  }

  /** Writes a script that runs a program in a place, with this HOME. @returns the path of the script */
  async wrap(place: string, program: string, home: string): Promise<string> {
    const path = join(this.#folder, `${place}-program`);
    const command = this.#inside(place, [program]).map((part) => `'${part}'`);
    await writeFile(path, `#!/bin/sh\nHOME='${home}' exec ${command.join(" ")} "$@"\n`, { mode: 0o755 });
    return path;
  }

  /** Restricts the client's firewall to outgoing TCP connections to this port, and their responses. */
  async closeClient(port: number): Promise<void> {
    await this.#nft(
      "client",
      `table ip firewall {
        chain out {
          type filter hook output priority 0; policy drop;
          oif lo accept
          tcp dport ${port} accept
        }
        chain in {
          type filter hook input priority 0; policy drop;
          iif lo accept
          ct state established accept
        }
      }`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup.disposeAsync();
  }

  async #addMachine(containers: NetworkOptions["containers"]): Promise<void> {
    await this.#hold("machine", {});
    await this.#hold("client", {});
    const client = this.#holders.get("client");
    await this.#shell(
      "machine",
      `echo 1 > /proc/sys/net/ipv4/ip_forward
       ip link set lo up
       ip link add bridge type bridge && ip addr add ${GATEWAY}/24 dev bridge && ip link set bridge up
       ip link add out type veth peer name eth0 netns ${client}
       ip addr add ${MACHINE}/24 dev out && ip link set out up`,
    );
    await this.#shell("client", `ip link set lo up && ip addr add ${CLIENT}/24 dev eth0 && ip link set eth0 up`);
    const published = Object.values(containers).flatMap(({ address, ports = [] }) =>
      ports.map((port) => {
        const [, outer, inner, protocol = "tcp"] = /^(\d+):(\d+)(?:\/(udp))?$/.exec(port) ?? [];
        return `iifname out ip daddr ${MACHINE} ${protocol} dport ${outer} dnat to ${address}:${inner}`;
      }),
    );
    await this.#nft(
      "machine",
      `table ip nat {
        chain published {
          type nat hook prerouting priority -100;
          ${published.join("\n")}
        }
        chain leaving {
          type nat hook postrouting priority 100;
          ip saddr ${GATEWAY}/24 masquerade
        }
      }`,
    );
  }

  async #addContainer(name: string, { address, files = {} }: Container): Promise<void> {
    await this.#hold(name, files);
    const end = `to-${name}`;
    await this.#shell(
      "machine",
      `ip link add ${end} type veth peer name eth0 netns ${this.#holders.get(name)}
       ip link set ${end} master bridge up`,
    );
    await this.#shell(
      name,
      `ip link set lo up && ip addr add ${address}/24 dev eth0 && ip link set eth0 up
       ip route add default via ${GATEWAY}`,
    );
  }

  /** Creates namespaces, which exist while their process runs. */
  async #hold(place: string, files: Readonly<Record<string, string>>): Promise<void> {
    const mounts = Object.entries(files).map(([path, source]) => {
      const make = /\.\w+$/.test(path) ? `touch ${path}` : `mkdir ${path}`;
      return `mkdir -p ${dirname(path)} && ${make} && mount --bind '${source}' ${path}`;
    });
    const script = ["set -e", `mount --bind '${join(this.#folder, "hosts")}' /etc/hosts`, "mount -t tmpfs tmpfs /srv"];
    const lines = [...script, ...mounts, "echo ready", "exec cat"].join("\n");
    // The holder runs until its input closes, which also happens when this process ends for whatever reason.
    const holder = spawn("unshare", ["--net", "--mount", "sh", "-c", lines], { stdio: ["pipe", "pipe", "inherit"] });
    this.#cleanup.defer(() => void holder.kill("SIGKILL"));
    await Promise.race([
      once(holder.stdout, "data"),
      once(holder, "exit").then(() => {
        throw new Error("A test in namespaces needs root and the right to make them");
      }),
    ]);
    this.#holders.set(place, Number(holder.pid));
  }

  #inside(place: string, command: readonly string[]): string[] {
    const target = String(this.#holders.get(place));
    return ["nsenter", "--target", target, "--net", "--mount", `--wd=${process.cwd()}`, "--", ...command];
  }

  async #shell(place: string, script: string): Promise<void> {
    const [program = "", ...args] = this.#inside(place, ["sh", "-e", "-c", script]);
    await runCommand(program, args);
  }

  async #nft(place: string, rules: string): Promise<void> {
    const { command, libraries } = await debianProgram({ name: "nftables", path: "usr/sbin/nft" });
    const [program = "", ...args] = this.#inside(place, [command, "-f", "-"]);
    await runCommand(program, args, { input: rules, env: { ...process.env, LD_LIBRARY_PATH: libraries } });
  }
}
