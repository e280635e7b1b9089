import { decide } from "../permission/decide.ts";
import { type Action, type PermissionRule } from "../permission/rule.ts";
import { TOOL_TYPE, type PermissionNeed } from "../tool/permission-need.ts";

/** What the rules say of a call. A tool's own name is a thing to be ruled about as well, for every tool. */
export function judge(
  toolName: string,
  { type, patterns, isDeclared }: Pick<PermissionNeed, "type" | "patterns" | "isDeclared">,
  rules: readonly PermissionRule[],
): Action {
  const ofTool = decide([{ type: TOOL_TYPE, pattern: toolName }], rules, "allow");
  if (!isDeclared || ofTool === "deny") return ofTool;
  const ofDeeds = decide(
    patterns.map((pattern) => ({ type, pattern })),
    rules,
  );
  return ofTool === "ask" && ofDeeds === "allow" ? "ask" : ofDeeds;
}
