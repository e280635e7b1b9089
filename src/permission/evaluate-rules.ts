import { type Reading, UNKNOWN } from "../lib/glob.ts";
import { hasDetour, isMentioned, matchPattern, matchWidely, matchWords } from "./match-pattern.ts";
import type { Action, Operation, PermissionRule, PermissionInput } from "./rule.ts";
import { COMMAND_TYPE, toCanonicalPattern, toWidePatterns } from "./to-operations.ts";

const STRICTEST_FIRST: readonly Action[] = ["deny", "ask", "allow"];

/**
 * Returns the strictest action that the rules require for any of these operations. If several rules match an operation,
 * a deny rule wins; without one, the last rule wins. A deny rule that only possibly matches results in `ask`. If no
 * rule matches, the action is `otherwise`, or `allow` for an operation that rules can only restrict.
 */
export function evaluateRules(
  operations: readonly Operation[],
  rules: readonly PermissionRule[],
  otherwise: Action = "ask",
): Action {
  const actions = operations.map(
    (operation) => decideOne(operation, rules) ?? (operation.isOnlyRestricted === true ? "allow" : otherwise),
  );
  return STRICTEST_FIRST.find((action) => actions.includes(action)) ?? otherwise;
}

/** Whether a participant's grants cover all of these values. `false` if there are no values. */
export function isGranted({ type, values }: PermissionInput, granted: readonly string[]): boolean {
  // Version 0.1.0 stored lines of several commands with a leading `; `.
  const patterns = type === COMMAND_TYPE ? granted.map((pattern) => pattern.replace(/^; /u, "")) : granted;
  return values.length > 0 && values.every((text) => patterns.some((pattern) => matchPattern(pattern, text)));
}

function decideOne(operation: Operation, rules: readonly PermissionRule[]): Action | undefined {
  let last: Action | undefined;
  let mayBeDenied = false;
  for (const rule of rules) {
    if (!matchPattern(rule.type, operation.type)) continue;
    const fit = rule.action === "allow" ? fitsByWord(operation, rule) : fitsWidely(operation, rule);
    if (fit === undefined) continue;
    if (rule.action !== "deny") last = rule.action;
    else if (fit === "surely") return "deny";
    else mayBeDenied = true;
  }
  return mayBeDenied ? "ask" : last;
}

type Fit = "surely" | "possibly" | undefined;

/**
 * Matches an allow rule narrowly: only against the canonical name, and only if the whole name is known before the
 * operation runs. Commands are matched word by word.
 */
function fitsByWord({ type, value, words, isExpanded }: Operation, { pattern }: PermissionRule): Fit {
  if (isExpanded && !isBlanket(pattern)) return undefined;
  if (type === COMMAND_TYPE) return matchWords(pattern, words ?? [value]) ? "surely" : undefined;
  if (hasDetour(value) && !isBlanket(pattern)) return undefined;
  return matchPattern(toCanonicalPattern(type, pattern), value) ? "surely" : undefined;
}

/** Matches a deny or ask rule broadly, including aliases and other names that might apply once the operation runs. */
function fitsWidely(operation: Operation, rule: PermissionRule): Fit {
  const { type, value, aliases = [], maybes = [], mentions = [], ignoresCase = false } = operation;
  const spelled = (text: string) => (ignoresCase ? withoutCase(text) : text);
  const patterns = toWidePatterns(type, rule.pattern).map(spelled);
  const names = [value, ...aliases].map(spelled);
  if (type !== COMMAND_TYPE) {
    const fits = (texts: readonly string[], reading: Reading) =>
      texts.some((text) => patterns.some((pattern) => matchPattern(pattern, text, reading)));
    // Part of a redirection's file name may be unknown.
    if (fits(names, value.includes(UNKNOWN) ? "surely" : "known")) return "surely";
    return fits([...names, ...maybes.map(spelled)], "possibly") ? "possibly" : undefined;
  }
  const [pattern = ""] = patterns;
  if (names.some((name) => matchWidely(pattern, name, "surely"))) return "surely";
  const isPossible = [...names, ...maybes.map(spelled)].some((name) => matchWidely(pattern, name, "possibly"));
  // A program that runs a script removes the script's quotes, so the text without quotes is matched as well.
  const texts = [value, ...mentions].flatMap((text) => [text, text.replaceAll(/["'\\]/gu, "")]).map(spelled);
  return isPossible || texts.some((text) => isMentioned(pattern, text)) ? "possibly" : undefined;
}

function isBlanket(pattern: string): boolean {
  return pattern === "*" || pattern === "**";
}

function withoutCase(text: string): string {
  return text.normalize("NFC").toUpperCase().toLowerCase();
}
