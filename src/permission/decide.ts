import { matchPattern } from "./match-pattern.ts";
import { type Action, type Deed, type PermissionRule } from "./rule.ts";

const STRICTEST_FIRST: readonly Action[] = ["deny", "ask", "allow"];

/**
 * What the rules say of a call that would do all these things: the strictest of what they say of each. Of the rules
 * that match one thing, a deny wins, else the last; when none does, `otherwise` holds.
 */
export function decide(deeds: readonly Deed[], rules: readonly PermissionRule[], otherwise: Action = "ask"): Action {
  const actions = deeds.map((deed) => decideOne(deed, rules) ?? otherwise);
  return STRICTEST_FIRST.find((action) => actions.includes(action)) ?? otherwise;
}

/** Whether the grants of a person cover all of these patterns. Nothing is not covered. */
export function isGranted(patterns: readonly string[], granted: readonly string[]): boolean {
  return patterns.length > 0 && patterns.every((text) => granted.some((pattern) => matchPattern(pattern, text)));
}

function decideOne({ type, pattern }: Deed, rules: readonly PermissionRule[]): Action | undefined {
  const matching = rules.filter((rule) => matchPattern(rule.type, type) && matchPattern(rule.pattern, pattern));
  return matching.some(({ action }) => action === "deny") ? "deny" : matching.at(-1)?.action;
}
