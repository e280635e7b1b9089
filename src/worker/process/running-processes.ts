import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * What tells a process apart from a later one with the same id: when it started, as the system says it. Undefined when
 * no such process runs; one that has ended but was not waited for (a zombie) does not run.
 */
export function processStart(pid: number): string | undefined {
  if (process.platform === "linux") return linuxStart(pid);
  try {
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || undefined;
  } catch {
    return undefined;
  }
}

function linuxStart(pid: number): string | undefined {
  try {
    // The name in parentheses may hold blanks: the fixed fields begin after the last one.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/** The command line that a running process was started with; empty when there is no such process. */
export function processCommand(pid: number): string {
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return execFileSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return "";
  }
}
