import { forEachChild, parse, type Command, type Redirect, type SyntaxNode } from "unbash";
import { argumentText, wordText } from "./words-of.ts";

/** How deep expansions may be nested. Each level is parsed again, so each costs as much time as the first. */
const MAX_NESTING = 8;
/** An expansion that the shell takes as plain text. Something else may expand it later, as arithmetic does. */
const HIDDEN_EXPANSION = /\$\(|`/u;

/** Words side by side, or quotes: these are commands in brackets, not a sum. */
const NO_ARITHMETIC = /[\w"'\\]\s+[\w$"'\\]|["'\\;]/u;

/** One program with its arguments, as the shell would start it. */
export interface ShellCommand {
  /** `NAME=value` before the program. */
  readonly assignments: readonly string[];
  readonly words: readonly string[];
}

export interface ShellLine {
  readonly commands: readonly ShellCommand[];
  /** `> file` and `< file`. */
  readonly redirects: readonly string[];
  /** What `<<` and `<<<` give to programs, each after its sign. */
  readonly texts: readonly string[];
  /** Whether all of it was understood. */
  readonly isClear: boolean;
}

/** All commands of a line, wherever they stand in it. */
export function readLine(line: string): ShellLine {
  const commands: ShellCommand[] = [];
  const redirects: string[] = [];
  const texts: string[] = [];
  let isClear = true;
  const visit = (node: SyntaxNode, nesting: number) => {
    if (node.type === "Script" && node.errors?.length) isClear = false;
    if (isObscure(node)) isClear = false;
    if (node.type === "Command") commands.push(toCommand(node));
    if (node.type === "Redirect") redirects.push(...toRedirect(node));
    if (node.type === "HereDoc") texts.push(`<< ${node.body.text}`);
    if (node.type === "HereString" && node.target) texts.push(`<<< ${wordText(node.target)}`);
    const inside = isExpansion(node) ? nesting + 1 : nesting;
    if (inside <= MAX_NESTING) forEachChild(node, (child) => visit(child, inside));
    else isClear = false;
  };
  try {
    visit(parse(line), 0);
  } catch {
    isClear = false;
  }
  return {
    commands: commands.filter(({ assignments, words }) => assignments.length + words.length > 0),
    redirects,
    texts,
    isClear,
  };
}

function toCommand({ name, prefix, args }: Command): ShellCommand {
  return {
    assignments: prefix.flatMap((one) => (one.type === "Assignment" ? [argumentText(one)] : [])),
    words: name ? [wordText(name), ...args.map(argumentText)] : [],
  };
}

/** Empty for a redirect that touches no file: to another stream, or to `/dev/null`. */
function toRedirect({ operator, target }: Redirect): string[] {
  const text = target ? wordText(target) : "";
  if (text === "/dev/null" || (operator.endsWith("&") && /^(?:\d+|-)$/u.test(text))) return [];
  return [`${operator.startsWith("<") && operator !== "<>" ? "<" : ">"} ${text}`];
}

function isExpansion({ type }: SyntaxNode): boolean {
  return /Expansion|ProcessSubstitution/u.test(type);
}

/** Whether a node gives a name another meaning, or will run as something else than it looks like. */
function isObscure(node: SyntaxNode): boolean {
  switch (node.type) {
    case "Function":
    case "Coproc":
    // Shells other than bash read `((…))` as commands in two pairs of brackets.
    case "ArithmeticCommand":
    case "ArithmeticFor":
      return true;
    case "CommandExpansion":
    case "ProcessSubstitution":
    case "ArithmeticCommandExpansion":
      return node.script === undefined;
    case "ArithmeticExpansion":
      return NO_ARITHMETIC.test(node.text);
    case "ParameterExpansion":
      return node.prefix === "!" || node.operation?.type === "Transform" || node.operation?.type === "Unknown";
    case "SingleQuoted":
    case "AnsiCQuoted":
    case "Literal":
      return HIDDEN_EXPANSION.test(node.value);
    default:
      return false;
  }
}
