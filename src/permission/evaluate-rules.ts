import { type Reading, UNKNOWN } from "../lib/glob.ts";
import { hasDetour, isMentioned, matchPattern, matchWidely, matchWords } from "./match-pattern.ts";
import type { Action, Deed, PermissionRule, Wish } from "./rule.ts";
import { COMMAND_TYPE, toCanonicalPattern, toWidePatterns } from "./to-deeds.ts";

const STRICTEST_FIRST: readonly Action[] = ["deny", "ask", "allow"];

/**
 * What the rules say of a call that would do all these deeds: the strictest action of any deed. Of the rules that match
 * one deed, a deny wins, else the last rule. A deed that no rule matches gets `otherwise`.
 */
export function evaluateRules(
  deeds: readonly Deed[],
  rules: readonly PermissionRule[],
  otherwise: Action = "ask",
): Action {
  const actions = deeds.map((deed) => decideOne(deed, rules) ?? (deed.isOnlyRestricted === true ? "allow" : otherwise));
  return STRICTEST_FIRST.find((action) => actions.includes(action)) ?? otherwise;
}

/** Whether the grants of a participant cover all of these values. `false` when there are no values. */
export function isGranted({ type, values }: Wish, granted: readonly string[]): boolean {
  // Version 0.1.0 stored a line of several commands with `; ` before it.
  const patterns = type === COMMAND_TYPE ? granted.map((pattern) => pattern.replace(/^; /u, "")) : granted;
  return values.length > 0 && values.every((text) => patterns.some((pattern) => matchPattern(pattern, text)));
}

function decideOne(deed: Deed, rules: readonly PermissionRule[]): Action | undefined {
  let last: Action | undefined;
  let mayBeDenied = false;
  for (const rule of rules) {
    if (!matchPattern(rule.type, deed.type)) continue;
    const fit = rule.action === "allow" ? fitsByWord(deed, rule) : fitsWidely(deed, rule);
    if (fit === undefined) continue;
    if (rule.action !== "deny") last = rule.action;
    else if (fit === "surely") return "deny";
    else mayBeDenied = true;
  }
  return mayBeDenied ? "ask" : last;
}

type Fit = "surely" | "possibly" | undefined;

/** An allow matches narrowly: the deed's own name, word by word, and only what is known of it. */
function fitsByWord({ type, value, words, isExpanded }: Deed, { pattern }: PermissionRule): Fit {
  if (isExpanded && !isBlanket(pattern)) return undefined;
  if (type === COMMAND_TYPE) return matchWords(pattern, words ?? [value]) ? "surely" : undefined;
  if (hasDetour(value) && !isBlanket(pattern)) return undefined;
  return matchPattern(toCanonicalPattern(type, pattern), value) ? "surely" : undefined;
}

/** A deny or an ask matches widely: also aliases, and what the deed may come to. */
function fitsWidely(deed: Deed, rule: PermissionRule): Fit {
  const { type, value, aliases = [], maybes = [], mentions = [], ignoresCase = false } = deed;
  const spelled = (text: string) => (ignoresCase ? withoutCase(text) : text);
  const patterns = toWidePatterns(type, rule.pattern).map(spelled);
  const names = [value, ...aliases].map(spelled);
  if (type !== COMMAND_TYPE) {
    const fits = (texts: readonly string[], reading: Reading) =>
      texts.some((text) => patterns.some((pattern) => matchPattern(pattern, text, reading)));
    // Of the file of a redirection a part may not be known.
    if (fits(names, value.includes(UNKNOWN) ? "surely" : "known")) return "surely";
    return fits([...names, ...maybes.map(spelled)], "possibly") ? "possibly" : undefined;
  }
  const [pattern = ""] = patterns;
  if (names.some((name) => matchWidely(pattern, name, "surely"))) return "surely";
  const isPossible = [...names, ...maybes.map(spelled)].some((name) => matchWidely(pattern, name, "possibly"));
  // A program that is given a script removes its quotes.
  const texts = [value, ...mentions].flatMap((text) => [text, text.replaceAll(/["'\\]/gu, "")]).map(spelled);
  return isPossible || texts.some((text) => isMentioned(pattern, text)) ? "possibly" : undefined;
}

function isBlanket(pattern: string): boolean {
  return pattern === "*" || pattern === "**";
}

function withoutCase(text: string): string {
  return text.normalize("NFC").toUpperCase().toLowerCase();
}
