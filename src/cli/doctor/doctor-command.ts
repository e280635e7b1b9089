import { runUnprepared } from "../run-unprepared.ts";
import { readFlags } from "../../worker/settings/command-line.ts";
import { checkNative } from "./check-native.ts";
import { type Finding, ok } from "./finding.ts";

const USAGE = `Usage: npm run parley -- doctor [options]

Looks for everything that npm start needs, and says what is missing and how to fix it. Changes nothing.

  --worker            looks for what a worker needs in production, where it starts no services itself
  --help              this text

Its status is 1 when something is missing.`;

const FLAGS = { worker: { type: "boolean", default: false } } as const;

export async function doctorCommand(args: readonly string[]): Promise<void> {
  // Not `runCommandLine`, which fails on a bad environment: the doctor reports such an environment as a finding.
  await runUnprepared("parley doctor", USAGE, async () => {
    const { worker, help } = readFlags(args, FLAGS);
    if (help) return undefined;
    const native = await checkNative();
    const others = async () => (await import("./diagnose.ts")).diagnose({ isWorkerOnly: worker });
    const findings = [
      ok(`Node ${process.versions.node}`),
      native,
      ...(native.state === "missing" ? [] : await others()),
    ];
    for (const finding of findings) console.log(toLines(finding));
    const count = findings.filter(({ state }) => state === "missing").length;
    console.log(count === 0 ? "\nNothing is missing." : `\nMissing: ${count}`);
    return count === 0 ? 0 : 1;
  });
}

/** Formats a finding: `MISSING  PostgreSQL: none`, followed by a line `         → npm install …`. */
export function toLines({ state, text, remedy }: Finding): string {
  const word = state === "missing" ? "MISSING" : state;
  const lines = [`${word.padEnd(9)}${text}`, ...(remedy === undefined ? [] : [`→ ${remedy}`])].join("\n").split("\n");
  return lines.map((line, index) => (index === 0 ? line : `${" ".repeat(9)}${line}`)).join("\n");
}
