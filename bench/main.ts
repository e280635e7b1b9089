import { join } from "node:path";
import { cpus, loadavg, totalmem } from "node:os";
import { loadRtcNode } from "../src/livekit/load-rtc-node.ts";
import { readPidFile } from "../src/worker/process/pid-file.ts";
import { startPostgres } from "../src/worker/services/embedded-postgres.ts";
import { runCommandLine } from "../src/cli/run-command-line.ts";
import { tempFolder } from "../test/support/temp-folder.ts";
import type { Arm } from "./arms/arm.ts";
import { startParley } from "./arms/parley.ts";
import { AGENTS_JS, AGENTS_PYTHON, CLIENTS, installPeer, startPeer } from "./arms/peer.ts";
import { startModel } from "./model/start-model.ts";
import { type AgentName, type BenchOptions, parseBenchOptions, USAGE } from "./options.ts";
import { findWorse } from "./report/check.ts";
import { readRecorded, record, writeLatest } from "./report/record.ts";
import type { Result } from "./report/result.ts";
import { Samples, toRatios } from "./report/samples.ts";
import { toSetting, toTables } from "./report/tables.ts";
import { readVersions } from "./versions.ts";
import { answers } from "./works/answers.ts";
import { measureBundles } from "./works/bundles.ts";
import { burst } from "./works/burst.ts";
import { clientCall } from "./works/client-call.ts";
import { clientSdk } from "./works/client-sdk.ts";
import { floors } from "./works/floors.ts";
import { joins } from "./works/joins.ts";
import { longAnswers } from "./works/long-answers.ts";
import { longTalk } from "./works/long-talk.ts";
import { measureProfile } from "./works/profile.ts";
import { roomsAtOnce } from "./works/rooms-at-once.ts";
import { slowDatabase } from "./works/slow-database.ts";
import { spans } from "./works/spans.ts";

const WORKS = [
  answers,
  floors,
  longTalk,
  longAnswers,
  burst,
  joins,
  roomsAtOnce,
  slowDatabase,
  spans,
  clientCall,
  clientSdk,
];
const PEERS = { "agents-js": AGENTS_JS, "agents-python": AGENTS_PYTHON } as const;
const progress = (line: string) => process.stderr.write(`bench: ${line}\n`);

await runCommandLine("bench", USAGE, async () => {
  const options = parseBenchOptions(process.argv.slice(2));
  if (!options) return undefined;
  const result = await measure(options);
  console.log(`${toSetting(result)}\n\n${toTables(result)}`);
  await writeLatest(result);
  const recorded = await readRecorded();
  if (options.isRecord) await record(result);
  if (!options.isCheck) return 0;
  if (!recorded) throw new Error("There is no bench/results/recorded.json to check against");
  const worse = findWorse(result.ratios, recorded.ratios);
  console.log(
    worse.length === 0 ? "\nNo ratio is worse than recorded." : `\nWorse than recorded:\n${worse.join("\n")}`,
  );
  return worse.length === 0 ? 0 : 1;
});

async function measure(options: BenchOptions): Promise<Result> {
  const [loadBefore = 0] = loadavg();
  const works = WORKS.filter(({ name }) => options.works.includes(name));
  const names = works.some(({ hasArms }) => hasArms) ? installArms(options) : [];
  await using open = new AsyncDisposableStack();
  for (const event of ["SIGINT", "SIGTERM", "uncaughtException"])
    process.once(event, (cause) => {
      console.error(cause);
      void open.disposeAsync().finally(() => process.exit(1));
    });
  const { path: dataDir } = open.use(await tempFolder());
  const postgres = await startPostgres({ dataDir, port: 0, progress });
  open.defer(() => postgres.close());
  const databasePid = Number(readPidFile(join(dataDir, "postgres.pid")));
  const model = open.use(await startModel());
  const arms: Arm[] = [];
  for (const name of names) {
    progress(`starting ${name}`);
    const starting =
      name === "parley"
        ? startParley({ databaseUrl: postgres.url, modelUrl: model.url })
        : startPeer(PEERS[name], model.url);
    arms.push(open.use(await starting));
  }
  const samples = new Samples();
  const bench = { extent: options.extent, arms, model, databaseUrl: postgres.url, databasePid, samples, progress };
  for (const work of works) await work.run(bench);
  const profile = options.works.includes("profile") ? await measureProfile(bench) : undefined;
  const figures = samples.toFigures();
  const { dispose } = await loadRtcNode();
  open.defer(() => dispose());
  return {
    at: new Date().toISOString(),
    machine: {
      cpu: cpus()[0]?.model ?? "?",
      cores: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
      loadBefore,
    },
    versions: await readVersions(postgres.url, names),
    extent: options.extent,
    figures,
    ratios: toRatios(figures),
    profile,
    bundles: options.works.includes("bundles") ? await bundleSizes() : {},
  };
}

/** Returns the agents that can be installed on this machine. Python may be missing. */
function installArms({ arms, areArmsNamed }: BenchOptions): AgentName[] {
  return arms.filter((name) => {
    if (name === "parley") return true;
    try {
      installPeer(PEERS[name], progress);
      return true;
    } catch (error) {
      if (areArmsNamed) throw error;
      progress(`${name} is left out: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
  });
}

async function bundleSizes(): Promise<Readonly<Record<string, number>>> {
  progress("bundles");
  installPeer(CLIENTS, progress);
  return measureBundles();
}
