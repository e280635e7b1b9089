import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { LLMock } from "@copilotkit/aimock";
import { expect, test } from "vitest";
import type { LoadReport } from "../src/cli/load/report.ts";
import { cpuMs } from "../test/support/cpu-ms.ts";
import { tempFolder } from "../test/support/temp-folder.ts";
import { freePortVariables, runMain } from "../test/worker/support/run-main.ts";
import { programEnvironment } from "../src/tool/program-environment.ts";

// Measures what voice sessions cost a host process. `VOICE_CASES` lists the runs. Each run is written as
// sessions:places, where places is the number of sessions per process: with 1, each session has its own process.
// `VOICE_PAUSE` is the pause between questions in seconds, and `VOICE_PROFILE` a folder for CPU profiles of all
// processes. With `VOICE_SPEECH=embedded`, the embedded models listen and speak. Otherwise, a stand-in listens and
// espeak-ng speaks.
const CASES = (process.env["VOICE_CASES"] ?? "1:1,1:50,5:1,5:50,10:50,20:50").split(",").map((name) => {
  const [sessions = 0, places = 0] = name.split(":").map(Number);
  return { name, sessions, places };
});
const TURNS = 4;
/** The pause before a participant speaks again, in seconds. */
const PAUSE_S = process.env["VOICE_PAUSE"] ?? "5";
/** How long costs are measured. All sessions are speaking during this time. */
const WINDOW_MS = 20_000;
/**
 * How often a worker checks whether it needs another host process. Sessions that start between two checks share a host
 * process.
 */
const HOST_CHECK_INTERVAL_MS = 5_000;
const QUESTION = "What is 3 plus 4?";
const IS_EMBEDDED = process.env["VOICE_SPEECH"] === "embedded";

test.each(CASES)("$name", async ({ sessions, places }) => {
  await using folder = await tempFolder();
  const recognizer = new LLMock({ host: "127.0.0.1", port: 0, logLevel: "silent", journalMaxEntries: 1 });
  recognizer.on({ endpoint: "transcription" }, { transcription: { text: QUESTION } });
  const sttUrl = await recognizer.start();
  const main = runMain({
    ...(await freePortVariables()),
    PARLEY_DATA_DIR: folder.path,
    ...(IS_EMBEDDED
      ? { STT: "embedded", TTS: "embedded" }
      : { STT: "openai", STT_BASE_URL: `${sttUrl}/v1`, TTS: "espeak" }),
    SESSIONS_PER_PROCESS: String(places),
    MAX_SESSIONS: "200",
    ...(process.env["VOICE_PROFILE"] && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${process.env["VOICE_PROFILE"]}` }),
  });
  const { httpUrl = "" } = await main.ready;
  await sleep(HOST_CHECK_INTERVAL_MS + 500);

  const rampS = places === 1 ? sessions : 0;
  const flags = [
    "--rooms",
    sessions,
    "--voice",
    sessions,
    "--turns",
    TURNS,
    "--pause",
    PAUSE_S,
    "--ramp",
    rampS,
    "--timeout",
    30,
  ].map(String);
  const args = ["src/cli/load.ts", ...flags, "--url", httpUrl, "--json"];
  const load = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: programEnvironment("NODE_ENV", "RUST_LOG"),
  });
  const output = Promise.all([text(load.stdout), once(load, "exit")]);
  await sleep(rampS * 1_000 + 14_000);
  const before = measureCosts(main.pid, Number(load.pid));
  await sleep(WINDOW_MS);
  const after = measureCosts(main.pid, Number(load.pid));
  const [json] = await output;
  main.kill("SIGTERM");
  await main.ended;
  await recognizer.stop();

  const report = JSON.parse(json) as LoadReport;
  const percents = [...after.cpu].map(([name, ms]) => {
    const percent = (100 * (ms - (before.cpu.get(name) ?? 0))) / WINDOW_MS;
    return `${name} ${(percent / sessions).toFixed(1)}`;
  });
  const { speechToSound, errors, driver } = report;
  console.log(
    [
      `${sessions} sessions, ${places} a process: ${JSON.stringify(speechToSound)} ${JSON.stringify(errors)}`,
      `  driver ${JSON.stringify(driver)}; MB of the hosts ${after.hostMb.join(", ")}, of the speech process ${after.speechMb.join(", ")}`,
      `  % of a core for each session: ${percents.join(", ")}`,
    ].join("\n"),
  );
  expect(speechToSound?.count).toBeGreaterThan(0);
});

interface Costs {
  /** CPU time since the start in ms, by kind of process, and for host processes by thread. */
  readonly cpu: Map<string, number>;
  /** The memory of each host process, in MB. A host process without sessions takes 205 MB. */
  readonly hostMb: readonly number[];
  /** The memory of the process that runs the embedded models, in MB. */
  readonly speechMb: readonly number[];
}

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/espeak/u, "espeak"],
  [/speech-process/u, "speech"],
  [/host-main|job_proc_lazy_main/u, "host"],
  [/livekit-server/u, "livekit-server"],
  [/postgres/u, "postgres"],
  [/main\.ts/u, "main"],
];

function measureCosts(mainPid: number, driverPid: number): Costs {
  const cpu = new Map<string, number>([["recognizer and bench", cpuMs()]]);
  const add = (name: string, ms: number) => cpu.set(name, (cpu.get(name) ?? 0) + ms);
  const hostMb: number[] = [];
  const speechMb: number[] = [];
  for (const pid of processTree(mainPid)) {
    const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
    const kind = KINDS.find(([pattern]) => pattern.test(command))?.[1] ?? "other";
    add(kind, cpuMsOf(`/proc/${pid}/stat`));
    if (kind === "speech") speechMb.push(memoryMb(pid));
    if (kind !== "host") continue;
    hostMb.push(memoryMb(pid));
    for (const thread of list(`/proc/${pid}/task`)) {
      const name = thread === String(pid) ? "JavaScript" : read(`/proc/${pid}/task/${thread}/comm`).trim();
      add(`(${name.replace(/[-\d]+$/u, "")})`, cpuMsOf(`/proc/${pid}/task/${thread}/stat`));
    }
  }
  add("driver", cpuMsOf(`/proc/${driverPid}/stat`));
  return { cpu, hostMb, speechMb };
}

function memoryMb(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/u.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1_024);
}

/** Returns the ids of a process and all its descendants. */
function processTree(root: number): number[] {
  const parents = list("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .map((name) => [Number(name), Number(fields(`/proc/${name}/stat`)[1])] as const);
  const found = [root];
  for (const pid of found) found.push(...parents.filter(([, parent]) => parent === pid).map(([child]) => child));
  return found;
}

/** Returns the CPU time of a process or thread, in ms. */
function cpuMsOf(path: string): number {
  const { 11: user = 0, 12: system = 0 } = fields(path);
  return (Number(user) + Number(system)) * 10;
}

function fields(path: string): string[] {
  return read(path).split(") ").at(-1)?.split(" ") ?? [];
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
