import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { endProcess } from "./end-process.ts";

/** Ids of the processes that this one has started and that have not ended. */
export function listChildren(): number[] {
  if (process.platform !== "linux") return listByPgrep();
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => parentOf(pid) === process.pid).map(Number);
}

/** Ends every child, politely first. For the end of the process, when nothing else should be left. */
export async function endChildren(options: { readonly graceMs: number; readonly keep?: (pid: number) => boolean }) {
  const { graceMs, keep = () => false } = options;
  const pids = listChildren().filter((pid) => !keep(pid));
  await Promise.all(pids.map((pid) => endProcess(pid, { signals: ["SIGINT", "SIGTERM"], graceMs })));
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]);
  } catch {
    return undefined;
  }
}

function listByPgrep(): number[] {
  try {
    const output = execFileSync("pgrep", ["-P", String(process.pid)], { encoding: "utf8" });
    return output.trim().split("\n").map(Number);
  } catch {
    return [];
  }
}
