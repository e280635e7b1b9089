import { mainUsage, parseMainOptions } from "../worker/main-options.ts";
import { readFlags } from "../worker/settings/command-line.ts";
import { runCommandLine } from "./run-command-line.ts";
import { runUnprepared } from "./run-unprepared.ts";

interface Command {
  /** A one-line description for the usage text. */
  readonly does: string;
  /** Runs the command. Imports its modules dynamically, so that no other command's modules are loaded. */
  readonly run: (args: readonly string[]) => Promise<unknown>;
}

export const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  [
    "init",
    {
      does: "makes a folder with a first agent",
      run: async (args) => (await import("./init/init-command.ts")).initCommand("npm run parley -- init", args),
    },
  ],
  ["start", { does: "starts everything on this machine: LiveKit, PostgreSQL, a model, the worker", run: runMain }],
  ["dev", { does: "the same, again after each change", run: dev }],
  [
    "worker",
    {
      does: "starts the worker alone, for production; --migrate brings the database up to date and ends",
      run: (args) => runMain(["--worker-only", ...args]),
    },
  ],
  ["talk", { does: "talks to a running worker", run: talk }],
  [
    "doctor",
    {
      does: "names what is missing on this machine, and how to fix it",
      run: async (args) => (await import("./doctor/doctor-command.ts")).doctorCommand(args),
    },
  ],
  [
    "test",
    {
      does: "runs tests of the agent",
      run: async (args) => (await import("./test/run-test.ts")).runTest(args),
    },
  ],
  ["record", { does: "makes a test of a stored session", run: record }],
  ["export", { does: "prints the transcript of a room", run: exportTalk }],
  ["erase", { does: "deletes everything stored about a participant", run: erase }],
  ["webhooks", { does: "lists what could not be sent to WEBHOOK_URL, and sends it again", run: webhooks }],
  [
    "decode",
    {
      does: "reads packets from stdin, hex or base64, one a line, and prints each as one line of JSON",
      run: (args) => packets("decode", args),
    },
  ],
  ["encode", { does: "does the reverse, in hex", run: (args) => packets("encode", args) }],
]);

/** Runs `src/worker/main.ts`, which reads its flags from `process.argv`. */
async function runMain(flags: readonly string[]): Promise<void> {
  process.argv.splice(2, Infinity, ...flags);
  await import("../worker/main.ts");
}

async function dev(args: readonly string[]): Promise<void> {
  await runUnprepared("parley dev", mainUsage("dev"), async () => {
    // Check the flags here as well. Otherwise, with a wrong flag, `parley dev` would start a worker that exits at once,
    // and would start it again after each change.
    if (!parseMainOptions(args)) return undefined;
    await (await import("./dev/run-dev.ts")).runDev(args);
    return 0;
  });
}

async function talk(args: readonly string[]): Promise<void> {
  const { parseOptions, USAGE } = await import("./talk/options.ts");
  await runCommandLine("talk", USAGE, async () => {
    const options = parseOptions(args, process.env);
    if (!options) return undefined;
    const { runTalk } = await import("./talk/run-talk.ts");
    await runTalk(options);
    return 0;
  });
}

async function record(args: readonly string[]): Promise<void> {
  const { parseRecordOptions, RECORD_USAGE, runRecord } = await import("./record/run-record.ts");
  await runCommandLine("parley record", RECORD_USAGE, async () => {
    const options = parseRecordOptions(args, process.env);
    if (!options) return undefined;
    console.log(await runRecord(options));
    return 0;
  });
}

async function exportTalk(args: readonly string[]): Promise<void> {
  const { EXPORT_USAGE, parseExportOptions } = await import("./export/options.ts");
  await runCommandLine("parley export", EXPORT_USAGE, async () => {
    const options = parseExportOptions(args, process.env);
    if (!options) return undefined;
    const { runExport } = await import("./export/run-export.ts");
    await runExport(options, process.stdout);
    return 0;
  });
}

async function erase(args: readonly string[]): Promise<void> {
  const { ERASE_USAGE, parseEraseOptions } = await import("./erase/options.ts");
  await runCommandLine("parley erase", ERASE_USAGE, async () => {
    const options = parseEraseOptions(args, process.env);
    if (!options) return undefined;
    const { runErase } = await import("./erase/run-erase.ts");
    console.log(await runErase(options));
    return 0;
  });
}

async function webhooks(args: readonly string[]): Promise<void> {
  const { parseWebhooksOptions, WEBHOOKS_USAGE } = await import("./webhooks/options.ts");
  await runCommandLine("parley webhooks", WEBHOOKS_USAGE, async () => {
    const options = parseWebhooksOptions(args, process.env);
    if (!options) return undefined;
    const { runWebhooks } = await import("./webhooks/run-webhooks.ts");
    await runWebhooks(options, console.log);
    return 0;
  });
}

async function packets(command: "decode" | "encode", args: readonly string[]): Promise<void> {
  const { PACKETS_USAGE, runPackets } = await import("./packets.ts");
  await runUnprepared(`parley ${command}`, PACKETS_USAGE, async () => {
    const { help } = readFlags(args, {});
    if (help) return undefined;
    await runPackets(command);
    return 0;
  });
}
