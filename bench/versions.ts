import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "../src/store/database/pool.ts";
import type { AgentName } from "./options.ts";
import { programEnvironment } from "../src/tool/program-environment.ts";

const ROOT = join(import.meta.dirname, "..");

export async function readVersions(
  databaseUrl: string,
  arms: readonly AgentName[],
): Promise<Readonly<Record<string, string>>> {
  const sql = connect(databaseUrl, { maxConnections: 1 });
  const [row] = await sql<{ server_version: string }[]>`show server_version`;
  await sql.end();
  const requirements = readFileSync(join(import.meta.dirname, "peers/agents-python/requirements.txt"), "utf8");
  const python = Object.fromEntries(
    requirements
      .trim()
      .split("\n")
      .map((line) => line.split("==")),
  );
  return {
    Parley: execFileSync("git", ["describe", "--always", "--dirty"], {
      cwd: ROOT,
      encoding: "utf8",
      env: programEnvironment(),
    }).trim(),
    Node: process.versions.node,
    PostgreSQL: row?.server_version ?? "?",
    "livekit-server": "1.13.5",
    "@livekit/rtc-node": versionOf("node_modules/@livekit/rtc-node"),
    ...(arms.includes("agents-js") && {
      "@livekit/agents": versionOf("bench/peers/agents-js/node_modules/@livekit/agents"),
      "@livekit/agents-plugin-openai": versionOf("bench/peers/agents-js/node_modules/@livekit/agents-plugin-openai"),
    }),
    ...(arms.includes("agents-python") && python),
  };
}

function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as { version: string }).version;
}
