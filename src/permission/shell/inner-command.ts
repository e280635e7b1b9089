import { UNKNOWN } from "../../lib/glob.ts";

/** What a command starts in its turn, as far as its arguments say it. */
interface Inner {
  /** Lines that it gives to a shell. */
  readonly scripts: readonly string[];
  /** A program with its arguments. */
  readonly words?: readonly string[];
  /** Whether it may start something that its arguments do not say. */
  readonly isUnclear: boolean;
}

const SHELLS: ReadonlySet<string> = new Set("sh bash dash zsh ksh mksh ash fish rbash".split(" "));
/** They start the program that their arguments name, behind options and assignments of their own. */
const WRAPPERS: ReadonlySet<string> = new Set(
  (
    "sudo doas env nohup time command builtin exec nice ionice chrt taskset timeout stdbuf setsid setpriv xargs " +
    "strace ltrace chroot unshare nsenter flock busybox toybox entr firejail bwrap systemd-run"
  ).split(" "),
);
/** They give a shell what stands behind `-c`, else what somebody types. */
const SESSIONS: ReadonlySet<string> = new Set(["su", "runuser", "script"]);
/** They make a word mean something else from then on, or carry out later what they read. */
const OBSCURE: ReadonlySet<string> = new Set(
  "alias hash enable bind complete mapfile readarray at batch crontab parallel".split(" "),
);
/** Options, and names of what is open, which holds whatever somebody put there. */
const NO_FILE = /^(?:-|\/dev\/|\/proc\/)/u;
/** Of a shell: what follows is a script. */
const SCRIPT_FLAG = /^[-+][a-zA-Z]*c[a-zA-Z]*$/u;
/** Words of a command at which another one is looked for. */
const MAX_TRIED = 16;

/** @param name of the program, without its folder */
export function innerCommand(name: string, args: readonly string[]): Inner {
  const started = ofProgram(name, args);
  const given = scriptsIn(args);
  return {
    ...started,
    scripts: [...started.scripts, ...given],
    isUnclear: started.isUnclear || [name, ...given].some((text) => text.includes(UNKNOWN)),
  };
}

function ofProgram(name: string, args: readonly string[]): Inner {
  if (SHELLS.has(name)) return ofShell(args);
  if (SESSIONS.has(name))
    return ofShell(args.filter((arg, index) => isOption(arg) || SCRIPT_FLAG.test(args[index - 1] ?? "")));
  if (name === "eval") return ofScript(args.join(" "));
  if (name === "trap") return ofScript(args.find((arg) => arg !== "--") ?? "");
  if (name === "source" || name === ".") return { scripts: [], isUnclear: isNoFile(args[0]) };
  if (OBSCURE.has(name)) return { scripts: [], isUnclear: true };
  const first = args.findIndex(isProgram);
  if (name === "watch") return ofScript(args.slice(Math.max(first, 0)).join(" "));
  // Behind the host; without a command there, it is whatever somebody types.
  if (name === "ssh") return ofScript(args.slice(first + 1).join(" ") || UNKNOWN);
  if (!WRAPPERS.has(name)) return { scripts: [], isUnclear: false };
  if (first < 0) return { scripts: [], isUnclear: !args.every(isHarmless) };
  return { scripts: [], words: [...args.slice(first), ...fedTo(name)], isUnclear: false };
}

/** Arguments that come from elsewhere. */
function fedTo(name: string): string[] {
  return name === "xargs" ? [UNKNOWN] : [];
}

/** `bash -c SCRIPT` among the arguments, whatever program they are for. */
function scriptsIn(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    if (!SHELLS.has(fileName(arg)) && !arg.includes(UNKNOWN)) return [];
    const { scripts } = ofShell(args.slice(index + 1, index + 1 + MAX_TRIED));
    return arg.includes(UNKNOWN) ? scripts.map((script) => `${script} ${UNKNOWN}`) : scripts;
  });
}

/** Each way in which a wrapper's arguments may name its program: some of its options take one of them for themselves. */
export function unwrapped(name: string, args: readonly string[]): string[] {
  if (!WRAPPERS.has(name)) return [];
  return args.slice(0, MAX_TRIED).flatMap((arg, index) => {
    return isProgram(arg) ? [[fileName(arg), ...args.slice(index + 1), ...fedTo(name)].join(" ")] : [];
  });
}

/** The same command without its options, which may stand before the word that says what it does: `git -C x push`. */
export function withoutOptions(name: string, args: readonly string[]): string[] {
  if (!args.some(isOption)) return [];
  const plain = args.filter((arg) => !isOption(arg));
  // An option may take the word behind it as its value.
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

/** An unknown piece of a script may be more than one word, and more than one command. */
function ofScript(script: string): Inner {
  return { scripts: [script], isUnclear: script.includes(UNKNOWN) };
}

/** A file is a program like any other; what comes from a stream, or by a name that is not known, is not. */
function isNoFile(file: string | undefined): boolean {
  return file === undefined || NO_FILE.test(file) || file.includes(UNKNOWN);
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

/** `env A=1` and `sudo --version` start nothing. */
function isHarmless(arg: string): boolean {
  return isAssignment(arg) || /^--?(?:help|version|[hVlvp])$/u.test(arg);
}
