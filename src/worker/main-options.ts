import { readFlags } from "./settings/command-line.ts";

const TITLES = {
  start: "Starts everything that the environment does not name: LiveKit, PostgreSQL, a model; and the worker.",
  dev: "The same, again after each change.",
  worker: "Starts the worker alone, for production.",
};

const FLAGS = {
  "worker-only": { type: "boolean", default: false },
  migrate: { type: "boolean", default: false },
  "scripted-model": { type: "boolean", default: false },
  json: { type: "boolean", default: false },
} as const;

export interface MainOptions {
  /** Whether the worker is started alone, without LiveKit and PostgreSQL. */
  readonly isWorkerOnly: boolean;
  /** Whether the process only migrates the database, and then exits. */
  readonly isMigration: boolean;
  /** Whether the scripted model may answer if no model is configured. */
  readonly hasScripted: boolean;
  /** Whether a line of JSON on stdout says when the worker is ready, for programs that start it. */
  readonly hasReadyLine: boolean;
}

/** Parses the flags of `parley start` and `parley worker`. @returns `undefined` for `--help`. @throws {UsageError} */
export function parseMainOptions(args: readonly string[]): MainOptions | undefined {
  const flags = readFlags(args, FLAGS);
  if (flags.help) return undefined;
  const isWorkerOnly = flags["worker-only"];
  return {
    isWorkerOnly,
    isMigration: flags.migrate,
    hasScripted: !isWorkerOnly || flags["scripted-model"],
    hasReadyLine: flags.json,
  };
}

/** Returns the usage text of a command that starts the worker. */
export function mainUsage(command: keyof typeof TITLES): string {
  const more =
    command === "worker"
      ? "  --migrate           brings the database up to date, and ends\n  --scripted-model    without a model's key or address, a scripted model answers\n"
      : "";
  return `Usage: npm run parley -- ${command} [options]

${TITLES[command]} Settings: the environment and .env; docs/operating.md lists them. Ctrl-C stops it.

${more}  --json              when the worker is ready, prints one line of JSON on stdout
  --help              this text`;
}
