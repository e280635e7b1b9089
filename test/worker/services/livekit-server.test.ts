import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { startOwnLivekit } from "../../support/servers/own-livekit.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

/** The addresses, in hexadecimal, on which a process accepts TCP connections. */
function listeningOf(pid: number): string[] {
  const inodes = readdirSync(`/proc/${pid}/fd`).map(
    (fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1],
  );
  const rows = ["tcp", "tcp6"].flatMap((kind) => readFileSync(`/proc/${pid}/net/${kind}`, "utf8").split("\n").slice(1));
  const sockets = rows.map((row) => row.trim().split(/\s+/));
  return sockets.flatMap((fields) => (fields[3] === "0A" && inodes.includes(fields[9]) ? [fields[1] ?? ""] : []));
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function environmentOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
}

test("a started livekit-server does not read our environment", async () => {
  vi.stubEnv("LIVEKIT_PORT", "1");
  vi.stubEnv("REDIS_HOST", "127.0.0.1:1");
  vi.stubEnv("ANTHROPIC_API_KEY", "sk-secret");

  const livekit = await startOwnLivekit();
  const environment = environmentOf(livekit.pid);
  await livekit.close();

  expect(environment.filter((entry) => /LIVEKIT|REDIS|secret|DATABASE/u.test(entry))).toEqual([]);
  expect(environment).toContain(`PATH=${process.env["PATH"]}`);
});

test("a started livekit-server accepts connections only on loopback", async () => {
  const livekit = await startOwnLivekit();
  const addresses = listeningOf(livekit.pid);
  await livekit.close();

  const port = Number(new URL(livekit.url).port).toString(16).toUpperCase().padStart(4, "0");
  expect(addresses).toEqual([`0100007F:${port}`]);
});
