import { forEachChild, parse, type Command, type Redirect, type SyntaxNode } from "unbash";
import { plainPath } from "../../lib/plain-path.ts";
import { UNKNOWN } from "../../lib/glob.ts";
import { isExpanding, isPlain } from "./plain-nodes.ts";
import { argumentText, wordText } from "./words-of.ts";

/** Maximum nesting of expansions. Each level is parsed again and takes as long as the first. */
const MAX_NESTING = 8;

/** One program with its arguments, as the shell would start it. */
export interface ShellCommand {
  /** The assignments (`NAME=value`) before the program. */
  readonly assignments: readonly string[];
  readonly words: readonly string[];
}

/** A redirection: `> file` or `< file`. */
export interface ShellRedirect {
  readonly sign: "<" | ">";
  /** The canonical path, or UNKNOWN if the shell determines any part of it. */
  readonly path: string;
}

export interface ShellLine {
  readonly commands: readonly ShellCommand[];
  readonly redirects: readonly ShellRedirect[];
  /** The here-documents and here-strings, each with its operator (`<<`, `<<<`) in front. */
  readonly texts: readonly string[];
  /** Whether the whole line was understood. */
  readonly isClear: boolean;
  /** Whether the shell inserts variables, command output or arithmetic into the line. */
  readonly isExpanded: boolean;
}

/** Returns all commands and redirections of a line, at any depth. */
export function readLine(line: string): ShellLine {
  const commands: ShellCommand[] = [];
  const redirects: ShellRedirect[] = [];
  const texts: string[] = [];
  let isClear = true;
  let isExpanded = false;
  const visit = (node: SyntaxNode, nesting: number) => {
    if (!isPlain(node)) isClear = false;
    const isInside = isExpanding(node);
    if (isInside) isExpanded = true;
    if (node.type === "Command") commands.push(toCommand(node));
    if (node.type === "Redirect") redirects.push(...toRedirect(node));
    if (node.type === "HereDoc") texts.push(`<< ${node.body.text}`);
    if (node.type === "HereString" && node.target) texts.push(`<<< ${wordText(node.target)}`);
    const inside = isInside ? nesting + 1 : nesting;
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
    isExpanded,
  };
}

function toCommand({ name, prefix, args }: Command): ShellCommand {
  return {
    assignments: prefix.flatMap((one) => (one.type === "Assignment" ? [argumentText(one)] : [])),
    words: name ? [wordText(name), ...args.map(argumentText)] : [],
  };
}

/** Returns an empty array for a redirect that touches no file: to another stream, or to `/dev/null`. */
function toRedirect({ operator, target }: Redirect): ShellRedirect[] {
  const text = target ? wordText(target) : "";
  if (text === "/dev/null" || (operator.endsWith("&") && /^(?:\d+|-)$/u.test(text))) return [];
  // An unknown part may contain `..` or a symbolic link, so the whole path is unknown.
  const path = text.startsWith("~") || text.includes(UNKNOWN) ? UNKNOWN : plainPath(text);
  return [{ sign: operator.startsWith("<") && operator !== "<>" ? "<" : ">", path }];
}
