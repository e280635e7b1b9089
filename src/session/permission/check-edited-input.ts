import { type JsonObject } from "../../lib/json.ts";
import { literalPattern } from "../../lib/literal-pattern.ts";
import { type PermissionRule } from "../../permission/rule.ts";
import { type PermissionRecord } from "../../store/permissions/load-permissions.ts";
import { type EditedInput } from "../../store/permissions/reply-to-permission.ts";
import { compileInputSchema, tryParse } from "../../tool/input-schema.ts";
import { permissionNeed, type PermissionNeed } from "../../tool/permission-need.ts";
import { type ServerTool } from "../../tool/server-tool.ts";
import { judge } from "./judge.ts";
import { toRuleText } from "./to-permit.ts";

/** What edited arguments are judged by. */
export interface EditGuard {
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  readonly rules: readonly PermissionRule[];
}

/**
 * Whether a request takes these arguments in the place of those that were shown, and what they touch. An answer is
 * stored only then: whoever is told that it counts may rely on it that no rule keeps them from running.
 */
export function checkEditedInput(
  { toolName, editedInputSchema }: Pick<PermissionRecord, "toolName" | "editedInputSchema">,
  input: JsonObject,
  { serverTools, rules }: EditGuard,
): EditedInput | { readonly error: string } {
  if (!editedInputSchema) return { error: "this tool takes none" };
  const asShown = tryParse(compileInputSchema(editedInputSchema), input);
  if ("error" in asShown) return asShown;
  const tool = serverTools.get(toolName);
  if (!tool) return { error: "there is no such tool here any more, and nobody else can say what they touch" };
  const checked = tryParse(tool.input, input);
  if ("error" in checked) return checked;
  const need = needOf(() => permissionNeed(tool, checked.value));
  if (!need) return { error: "the tool cannot say what they touch" };
  if (judge(toolName, need, rules) === "deny") return { error: toRuleText(need) };
  return { input, patterns: need.values.map(literalPattern) };
}

function needOf(read: () => PermissionNeed): PermissionNeed | undefined {
  try {
    return read();
  } catch {
    // The tool's own definition failed; what it says may hold anything, so it is not handed out.
    return undefined;
  }
}
