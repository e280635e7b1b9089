import { afterAll, expect, test } from "vitest";
import { runCommand } from "../support/processes/run-in-our-environment.ts";
import { forFile } from "../support/lifetimes.ts";
import { fetchToken, isPodman, Project } from "./support/project.ts";
import { Talk } from "./support/talk.ts";

/** Example addresses (RFC 5737) for this machine and for the other one. */
const [HERE, THERE] = ["192.0.2.10", "192.0.2.20"] as const;
const SECRET = "a-secret-of-this-test-0123456789abcdef";
const OTHER = ["ip", "netns", "exec", "parley-other"] as const;

const project = forFile(async () => {
  const created = await Project.create({ env: `NODE_IP=${HERE}\nLIVEKIT_API_SECRET=${SECRET}\n` });
  if (isPodman) await addOtherMachine();
  if (isPodman) await created.compose("up", "--detach", "--wait");
  return created;
});

/**
 * Adds the other machine: a network namespace at the end of a virtual cable. Works only with podman, whose tests run in
 * a network of their own.
 */
async function addOtherMachine(): Promise<void> {
  const commands = [
    "ip netns add parley-other",
    "ip link add parley-here type veth peer name parley-there netns parley-other",
    `ip addr add ${HERE}/24 dev parley-here`,
    "ip link set parley-here up",
    ...["ip link set lo up", `ip addr add ${THERE}/24 dev parley-there`, "ip link set parley-there up"].map(
      (command) => `${OTHER.join(" ")} ${command}`,
    ),
  ];
  for (const command of commands) await sh(command);
}

/** Makes the other machine's firewall drop incoming traffic except for responses, as many firewalls and routers do. */
async function closeOtherMachine(): Promise<void> {
  const rules = [
    "-A INPUT -i lo -j ACCEPT",
    "-A INPUT -m state --state ESTABLISHED,RELATED -j ACCEPT",
    "-P INPUT DROP",
  ];
  for (const rule of rules) await sh(`${OTHER.join(" ")} iptables ${rule}`);
}

async function sh(command: string): Promise<void> {
  await runCommand("sh", ["-c", command]);
}

/** Asks the agent from the other machine. The token is fetched on this machine and passed on in a variable. */
async function askFromThere(room: string): Promise<string> {
  const { token, livekitUrl } = await fetchToken(room, "bob", SECRET);
  const [command, ...args] = OTHER;
  const script = new URL("support/ask.ts", import.meta.url).pathname;
  const env = { ...process.env, TOKEN: token, LIVEKIT_URL: livekitUrl, NODE_ENV: "production" };
  return runCommand(command, [...args, process.execPath, script, "what is 21 * 2?"], { env });
}

afterAll(async () => {
  if (isPodman) await sh("ip netns delete parley-other");
});

test.runIf(isPodman)(
  "with NODE_IP a participant on another machine can talk, whatever its firewall blocks",
  async () => {
    const open = await askFromThere("open");
    await closeOtherMachine();
    const closed = await askFromThere("closed");

    expect([open, closed]).toEqual(Array(2).fill(expect.stringContaining("21 * 2 is 42.")));
  },
);

test.runIf(isPodman)("with NODE_IP a participant on this machine can talk as well", async () => {
  await using talk = await Talk.open({ room: "here", secret: SECRET });

  expect((await talk.ask("what is 21 * 2?")).text).toContain("21 * 2 is 42.");
  expect(await project.containers("livekit")).toHaveLength(1);
});
