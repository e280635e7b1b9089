import { UNKNOWN } from "../../lib/glob.ts";
import type { Operation } from "../rule.ts";
import { withoutHomes } from "../match-pattern.ts";
import { fileName, innerCommand, unwrapped, withoutOptions } from "./inner-command.ts";
import { readLine, type ShellCommand, type ShellRedirect } from "./read-line.ts";

/** The placeholder that `find` replaces with file names, and the default placeholder of `xargs`. */
const PLACEHOLDER = "{}";
/** xargs options that set a different placeholder, in the same word or in the next. */
const PLACEHOLDER_ATTACHED = /^(?:-[0oprtx]*[iIJ]|--r[a-z]*=)(?<placeholder>.+)$/u;
const PLACEHOLDER_FOLLOWS = /^-[0oprtx]*[IJ]$/u;
/** How many different placeholders are replaced. If a command has more, every argument counts as unknown. */
const MAX_PLACEHOLDERS = 16;
/** Maximum nesting of scripts (`sh -c "sh -c …"`) and of programs that start programs. */
const MAX_DEPTH = 8;
/**
 * Limits on the number of a line's operations and on the total length of their names. The rest of a longer line counts
 * as unknown.
 */
const MAX_OPERATIONS = 200;
const MAX_LENGTH = 60_000;
/** Separates the commands of a line that could not be parsed. */
const JOINTS = /[;&|<>()`\n\r{}]+/u;

/** The `type` of a redirection is what it does with the file. A command has no `type`. */
export type ShellOperation = Omit<Operation, "type"> & { readonly type?: "read" | "edit" };

/** Matches programs that change the working folder, also within a word, because the word may be a script. */
const MOVES = /(?:^|\W)(?:cd|pushd|popd)(?:$|\W)/u;

/**
 * Returns what a shell line would do: one operation for each command, including commands that are joined, nested, part
 * of a script for a shell, or passed as arguments to a program that starts them. Whatever cannot be determined becomes
 * a separate operation, UNKNOWN, which may be anything. Nothing is run or looked up.
 */
export function commandOperations(line: string): ShellOperation[] {
  const operations = new CommandOperations();
  operations.addLine(line, 0);
  // An empty line or a comment has no operations.
  return operations.all.length > 0 ? operations.all : [{ value: line.trim() || line, words: [line.trim()] }];
}

/** Returns the redirections of a line and of its nested scripts, except those whose file name is unknown. */
export function shellRedirects(line: string): ShellRedirect[] {
  return commandOperations(line).flatMap(({ words: [sign, path] = [], aliases = [] }) => {
    if ((sign !== "<" && sign !== ">") || path === undefined) return [];
    // After `cd` or in a script, a relative path may mean a different file, so `path` is UNKNOWN and the path as
    // written is an alias.
    const paths = [path, ...aliases.map((alias) => alias.slice(sign.length + 1))];
    return [...new Set(paths)].filter((each) => !each.includes(UNKNOWN)).map((each) => ({ sign, path: each }));
  });
}

interface LineContext {
  /** Input that the line passes to its programs, one of which may run commands from that input. */
  readonly texts?: readonly string[];
  readonly isExpanded?: boolean;
}

class CommandOperations {
  readonly all: ShellOperation[] = [];
  #length = 0;

  get #isFull(): boolean {
    return this.all.length >= MAX_OPERATIONS || this.#length >= MAX_LENGTH;
  }

  addLine(line: string, depth: number): void {
    if (this.#isFull || depth > MAX_DEPTH) return this.#addAnything();
    const { commands, redirects, texts, isClear, isExpanded } = readLine(line);
    // A nested script may run in another folder, and so may any command in a line that contains `cd`.
    const isMoved = depth > 0 || commands.some(({ words }) => words.some((word) => MOVES.test(word)));
    for (const redirect of redirects) this.#addRedirect(redirect, { isMoved, isExpanded });
    for (const [index, command] of commands.entries())
      this.#addCommand(command, depth, { texts: index === 0 ? texts : [], isExpanded });
    // Deny rules can still match the pieces of a line that was not understood.
    if (!isClear) this.#addAnything(line.split(JOINTS).map((part) => part.trim()));
  }

  #addRedirect(
    { sign, path }: ShellRedirect,
    { isMoved, isExpanded }: Readonly<Record<"isMoved" | "isExpanded", boolean>>,
  ): void {
    const file = isMoved && !path.startsWith("/") ? UNKNOWN : path;
    this.#add({ value: `${sign} ${file}`, words: [sign, file], aliases: [`${sign} ${path}`], isExpanded });
    this.#add({ type: sign === "<" ? "read" : "edit", value: file, aliases: [path], isOnlyRestricted: true });
  }

  #addCommand(
    { assignments, words }: ShellCommand,
    depth: number,
    { texts = [], isExpanded = false }: LineContext = {},
  ): void {
    if (this.#isFull || depth > MAX_DEPTH) return this.#addAnything();
    const [program = "", ...args] = words;
    const name = fileName(program);
    const filled = filledIn(name, args);
    // A program name that contains whitespace would look like a program with an argument.
    const shown = /\s/u.test(program) ? UNKNOWN : program;
    // It is uncertain which of xargs' words is the program. A word that starts with a filled-in placeholder is never
    // the program.
    const started = unwrapped(name, filled).filter((command) => !command.startsWith(UNKNOWN));
    const all = [...assignments, ...(words.length > 0 ? [shown, ...args] : [])];
    this.#add({
      value: all.filter(Boolean).join(" "),
      words: all,
      isExpanded,
      aliases: [words.join(" "), [name, ...args].join(" "), ...unwrapped(name, args)],
      maybes: [...withoutOptions(name, args), ...started, withoutHomes(all)],
      mentions: texts,
    });
    const inner = innerCommand(name, filled);
    if (inner.isUnclear) this.#addAnything();
    for (const script of inner.scripts) this.addLine(script, depth + 1);
    for (const inWords of inner.commands ?? [])
      this.#addCommand({ assignments: [], words: inWords }, depth + 1, { isExpanded });
  }

  #addAnything(aliases: readonly string[] = []): void {
    const last = this.all.at(-1);
    if (aliases.length > 0 || last?.value !== UNKNOWN) this.#add({ value: UNKNOWN, words: [UNKNOWN], aliases });
  }

  #add({ value, aliases = [], maybes = [], mentions = [], ...rest }: ShellOperation): void {
    const names = new Set([value, ...aliases].filter(Boolean));
    names.delete(value);
    const others = new Set(maybes);
    this.all.push({ ...rest, value, aliases: [...names], maybes: [...others], mentions });
    for (const name of [value, ...names, ...others, ...mentions]) this.#length += name.length;
  }
}

/** Returns the arguments, with UNKNOWN wherever `find` or `xargs` inserts something that is not in the line. */
function filledIn(name: string, args: readonly string[]): readonly string[] {
  if (name === "find") return args.map((arg) => arg.replaceAll(PLACEHOLDER, UNKNOWN));
  return name === "xargs" ? withInput(args) : args;
}

function withInput(args: readonly string[]): readonly string[] {
  const follows = (index: number) => PLACEHOLDER_FOLLOWS.test(args[index - 1] ?? "");
  const named = args.flatMap((arg, index) =>
    follows(index) ? arg : (PLACEHOLDER_ATTACHED.exec(arg)?.groups?.["placeholder"] ?? []),
  );
  const placeholders = new Set([PLACEHOLDER, ...named].filter(Boolean));
  if (placeholders.size > MAX_PLACEHOLDERS) return args.map(() => UNKNOWN);
  // Drops the word after the first `-I` or `-J`, because it only names the placeholder. The word after a later one of
  // these options may be an argument of the program that xargs runs.
  const own = args.findIndex((_, index) => follows(index));
  const rest = args.filter((_, index) => index !== own);
  return rest.map((arg) => [...placeholders].reduce((text, placeholder) => text.replaceAll(placeholder, UNKNOWN), arg));
}
