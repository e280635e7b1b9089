import { decide } from "../../permission/decide.ts";
import { type Action, type PermissionRule } from "../../permission/rule.ts";
import { toDeeds } from "../../permission/to-deeds.ts";
import { TOOL_TYPE, type PermissionNeed } from "../../tool/permission-need.ts";

/** What the rules say of a call. A tool's own name is a thing to be ruled about as well, for every tool. */
export function judge(
  toolName: string,
  need: Pick<PermissionNeed, "type" | "values" | "ignoresCase" | "isDeclared">,
  rules: readonly PermissionRule[],
): Action {
  const ofTool = decide([{ type: TOOL_TYPE, value: toolName }], rules, "allow");
  if (!need.isDeclared || ofTool === "deny") return ofTool;
  const ofDeeds = decide(toDeeds(need), rules);
  return ofTool === "ask" && ofDeeds === "allow" ? "ask" : ofDeeds;
}
