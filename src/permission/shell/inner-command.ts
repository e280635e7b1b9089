import { UNKNOWN } from "../../lib/glob.ts";
import { plainPath } from "../../lib/plain-path.ts";
import { evaluatesNames } from "./plain-nodes.ts";
import { isOrdinaryName } from "./variable-names.ts";

/** What a command starts, as far as its arguments reveal. */
interface Inner {
  /** Command lines that the command passes to a shell. */
  readonly scripts: readonly string[];
  /** Programs with their arguments. */
  readonly commands?: readonly (readonly string[])[];
  /** Whether the command may start something that its arguments do not reveal. */
  readonly isUnclear: boolean;
}

const SHELLS: ReadonlySet<string> = new Set("sh bash dash zsh ksh mksh ash fish rbash".split(" "));
/** Programs that start another program, which follows their own options and assignments. */
const WRAPPERS: ReadonlySet<string> = new Set(
  (
    "sudo doas env nohup time command builtin exec nice ionice chrt taskset timeout stdbuf setsid setpriv xargs " +
    "strace ltrace chroot unshare nsenter flock busybox toybox entr firejail bwrap systemd-run jobs"
  ).split(" "),
);
/** Wrappers that expect a file, a folder or a mask before the program. */
const WRAPPERS_WITH_OPERAND: ReadonlySet<string> = new Set(["flock", "chroot", "taskset"]);
/** Options that have no value in the next word. Values attached with `=` are recognized for every program. */
const STANDALONE: Readonly<Record<string, RegExp>> = {
  sudo: /^-[AbEHknPS]+$/u,
  doas: /^-[Lns]+$/u,
  env: /^-[i0v]*$/u,
  time: /^-[apqv]+$/u,
  command: /^-[pvV]+$/u,
  exec: /^-[cl]+$/u,
  nice: /^-n?\d+$/u,
  stdbuf: /^-[ioe].+$/u,
  timeout: /^(?:-v|-[ks].+|--(?:foreground|preserve-status|verbose))$/u,
  setsid: /^-[cfw]+$/u,
  // The placeholder after `-I` or `-J` has been removed, so no value follows these options.
  xargs: /^-[0oprtx]*(?:[IJ]|[IdELnPs].+)?$/u,
  strace: /^-[fqrtvxyc]+$/u,
  jobs: /^-x$/u,
};
/** Programs that pass the text after `-c` to a shell. Without `-c`, the shell reads commands from its input. */
const SHELL_LAUNCHERS: ReadonlySet<string> = new Set(["su", "runuser", "sg", "newgrp", "script"]);
/** Commands that change the meaning of later words, or that later run what they have read. */
const UNPREDICTABLE: ReadonlySet<string> = new Set(
  "alias hash enable bind complete compgen mapfile readarray history fc at batch crontab parallel shopt bwrap".split(
    " ",
  ),
);
/** Harmless arguments of `set`. Others, such as `-k`, `-a` and `-H`, change the meaning of later words. */
const HARMLESS_SET_ARGUMENT = /^(?:-[efunvx]*o?|\+[efunvx]+|errexit|nounset|pipefail|xtrace)$/u;
/** Matches words that are not script files: options, and paths of open streams, whose content is unknown. */
const NO_FILE = /^(?:[-+]|(?:\/|(?:\.\.\/)+)(?:dev|proc)\/)/u;
/** Matches a shell option that is followed by a script. */
const SCRIPT_FLAG = /^[-+][a-zA-Z]*c[a-zA-Z]*$/u;
/** How many words of a command are tried as the start of another command. */
const MAX_TRIED = 16;

/**
 * Returns what a command starts, including the script of every `bash -c SCRIPT` among its arguments.
 *
 * @param name the program's name, without its folder
 */
export function innerCommand(name: string, args: readonly string[]): Inner {
  const started = ofProgram(name, args);
  const scripts = scriptsIn(args);
  return {
    ...started,
    scripts: [...started.scripts, ...scripts],
    isUnclear: started.isUnclear || [name, ...scripts].some((text) => text.includes(UNKNOWN)),
  };
}

function ofProgram(name: string, args: readonly string[]): Inner {
  if (SHELLS.has(name)) return ofShell(args);
  if (SHELL_LAUNCHERS.has(name))
    return ofShell(args.filter((arg, index) => isOption(arg) || SCRIPT_FLAG.test(args[index - 1] ?? "")));
  if (name === "eval") return ofScript(args.join(" "));
  if (name === "trap") return ofScript(args.find((arg) => arg !== "--") ?? "");
  if (name === "source" || name === ".") return { scripts: [], isUnclear: isNoFile(args[0]) };
  if (UNPREDICTABLE.has(name) || evaluatesNames(name, args)) return { scripts: [], isUnclear: true };
  const first = args.findIndex(isProgram);
  if (name === "watch") return ofScript(args.slice(Math.max(first, 0)).join(" "));
  // The command follows the host. Without a command, ssh runs commands from its input.
  if (name === "ssh") return ofScript(args.slice(first + 1).join(" ") || UNKNOWN);
  if (name === "find") return { scripts: [], commands: executed(args), isUnclear: false };
  if (name === "set") return { scripts: [], isUnclear: !args.every((arg) => HARMLESS_SET_ARGUMENT.test(arg)) };
  return WRAPPERS.has(name) ? ofWrapper(name, args) : { scripts: [], isUnclear: false };
}

function ofWrapper(name: string, args: readonly string[]): Inner {
  const starts = startsOf(name, args);
  if (starts.length === 0) return { scripts: [], isUnclear: !args.every(isHarmless) };
  const own = args.slice(0, starts.at(-1));
  const splits = name === "env" && own.some((arg) => /^-\w*S|^--s/u.test(arg));
  const sets = own.some((arg) => isAssignment(arg) && !isOrdinaryName(arg.split("=", 1)[0] ?? ""));
  return {
    scripts: name === "flock" ? ofShell(args.slice(1)).scripts : [],
    commands: starts.map((start) => [...args.slice(start), ...fedTo(name)]),
    isUnclear: splits || sets || starts.length > MAX_TRIED,
  };
}

/** Returns every index at which the program may start. A word after an option may still be that option's value. */
function startsOf(name: string, args: readonly string[]): number[] {
  const starts: number[] = [];
  const standalone = STANDALONE[name];
  for (const [index, arg] of args.entries()) {
    if (!isProgram(arg)) continue;
    starts.push(index);
    const before = args[index - 1] ?? "";
    const isAttached = standalone?.test(before) === true || /^--(?:$|.+=)/u.test(before);
    const isFirst = starts.length === 1 && WRAPPERS_WITH_OPERAND.has(name);
    if ((!isFirst && (!isOption(before) || isAttached)) || starts.length > MAX_TRIED) break;
  }
  return starts;
}

/** Returns the commands that `find` runs for the files that it finds. */
function executed(args: readonly string[]): string[][] {
  return args.flatMap((arg, index) => {
    if (!/^-(?:exec|ok)(?:dir)?$/u.test(arg)) return [];
    const rest = args.slice(index + 1);
    const end = rest.indexOf(";");
    return [end < 0 ? rest : rest.slice(0, end)];
  });
}

/** Returns the arguments that a wrapper adds itself: xargs adds its input, which is unknown. */
function fedTo(name: string): string[] {
  return name === "xargs" ? [UNKNOWN] : [];
}

/** Returns the scripts of every `bash -c SCRIPT` among the arguments of any program. */
function scriptsIn(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    if (!SHELLS.has(fileName(arg)) && !arg.includes(UNKNOWN)) return [];
    const { scripts } = ofShell(args.slice(index + 1, index + 1 + MAX_TRIED));
    return arg.includes(UNKNOWN) ? scripts.map((script) => `${script} ${UNKNOWN}`) : scripts;
  });
}

/**
 * Returns one command for each word that may be the wrapped program. It is not always certain which word that is,
 * because a word after an option may be the option's value.
 */
export function unwrapped(name: string, args: readonly string[]): string[] {
  if (!WRAPPERS.has(name)) return [];
  return args.slice(0, MAX_TRIED).flatMap((arg, index) => {
    return isProgram(arg) ? [[fileName(arg), ...args.slice(index + 1), ...fedTo(name)].join(" ")] : [];
  });
}

/**
 * Returns the command without its options, because options may precede the word that identifies the action
 * (`git -C x push`). Returns several versions, because a word after an option may be the option's value.
 */
export function withoutOptions(name: string, args: readonly string[]): string[] {
  if (!args.some(isOption)) return [];
  const plain = args.filter((arg) => !isOption(arg));
  // The next word may be an option's value.
  const plainest = args.filter((arg, index) => !isOption(arg) && !isOption(args[index - 1] ?? ""));
  const starts = [0];
  for (const start of starts) {
    if (starts.length > MAX_TRIED || !isOption(args[start] ?? "")) continue;
    for (const next of [start + 1, start + 2]) if (next < args.length && !starts.includes(next)) starts.push(next);
  }
  const rests = [plain, plainest, ...starts.slice(1).map((start) => args.slice(start))];
  return rests.map((rest) => [name, ...rest].join(" "));
}

export function fileName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}

function ofShell(args: readonly string[]): Inner {
  const flag = args.findIndex((arg) => SCRIPT_FLAG.test(arg));
  if (flag < 0) return { scripts: [], isUnclear: isNoFile(args[0]) };
  const script = args.slice(flag + 1).find((arg) => !/^[-+]/u.test(arg));
  return script === undefined ? { scripts: [], isUnclear: true } : ofScript(script);
}

/** A script that contains UNKNOWN is unclear, because UNKNOWN may be several words, or several commands. */
function ofScript(script: string): Inner {
  return { scripts: [script], isUnclear: script.includes(UNKNOWN) };
}

/**
 * Whether a script's content is unknown, because it comes from a stream or because the file's name is unknown. A file
 * with a known name is not unclear, because running it is like running any other program.
 */
function isNoFile(file: string | undefined): boolean {
  return file === undefined || NO_FILE.test(plainPath(file)) || file.includes(UNKNOWN);
}

function isOption(arg: string): boolean {
  return arg.startsWith("-");
}

function isAssignment(arg: string): boolean {
  return /^\w+=/u.test(arg);
}

function isProgram(arg: string): boolean {
  return !isOption(arg) && !isAssignment(arg) && !/^\d+(?:\.\d+)?[smhd]?$/u.test(arg);
}

/** Whether the argument starts nothing, as in `env A=1` and `sudo --version`. */
function isHarmless(arg: string): boolean {
  return isAssignment(arg) || /^--?(?:help|version|[hVlvp])$/u.test(arg);
}
