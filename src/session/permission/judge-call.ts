import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { Call } from "../../conversation/call.ts";
import { AppError } from "../../errors/app-error.ts";
import { parseExactJson } from "../../lib/clean-json.ts";
import type { JsonObject } from "../../lib/json.ts";
import { literalPattern } from "../../permission/match-pattern.ts";
import { evaluateRules, isGranted } from "../../permission/evaluate-rules.ts";
import type { Action, PermissionRule } from "../../permission/rule.ts";
import { toOperations } from "../../permission/to-operations.ts";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";
import type { EditedInput } from "../../store/permissions/reply-to-permission.ts";
import { compileInputSchema, tryParse } from "../../tool/input-schema.ts";
import { type PermissionNeed, type Permit, TOOL_TYPE, permissionNeed } from "../../tool/permission-need.ts";
import type { ServerTool } from "../../tool/server-tool.ts";

/**
 * Returns the action that the rules require for a call. The rules are applied to the use of the tool, as an operation
 * of type `tool`, and to the operations that the tool declares for the call.
 */
export function judgeCall(
  toolName: string,
  need: Pick<PermissionNeed, "type" | "values" | "ignoresCase" | "isDeclared">,
  rules: readonly PermissionRule[],
): Action {
  const ofTool = evaluateRules([{ type: TOOL_TYPE, value: toolName }], rules, "allow");
  if (!need.isDeclared || ofTool === "deny") return ofTool;
  const ofDeeds = evaluateRules(toOperations(need), rules);
  return ofTool === "ask" && ofDeeds === "allow" ? "ask" : ofDeeds;
}

/**
 * Converts a decided request to a permit. An approval applies only to this tool, these arguments, and the values that
 * the participant was asked about: by the time another worker resumes the call, a path may lead elsewhere.
 */
export function toPermit(permission: PermissionRecord, call: Call, need: PermissionNeed): Permit {
  const { state, message, editedInput, inputHash, createdAt, expiresAt, participantIdentity } = permission;
  switch (state) {
    case "approved":
      if (inputHash !== hashInput(call)) return refused("the approval was given for different arguments");
      if (!editedInput && !isGranted(need, permission.pattern))
        return refused("the call would now touch something other than what was approved");
      return { isAllowed: true, approver: participantIdentity, ...(editedInput && { editedInput }) };
    case "rejected":
      return refused(`the participant rejected it${message ? `. What the participant said: ${message}` : ""}`);
    case "expired":
      return refused(`no answer within ${Math.round((expiresAt - createdAt) / 1_000)} s`);
    case "withdrawn":
    case "asked":
      return refused("the permission request was withdrawn");
  }
}

/** Returns the text that explains to the model why a rule denies the call. */
export function toRuleText({ type, values }: PermissionNeed): string {
  return `a rule does not allow it (${type}: ${values.join(", ")})`;
}

export function refuseWithoutApprover(): Permit {
  return refused("the call needs permission, and a participant on the phone cannot be asked for it here");
}

function refused(why: string): Permit {
  return { isAllowed: false, why };
}

/** Returns a hash of the tool and its arguments, so that an approval cannot be used for other arguments. */
export function hashInput({ toolName, input }: Pick<Call, "toolName" | "input">): string {
  return createHash("sha256")
    .update(`${toolName}\n${canonicalize(input)}`)
    .digest("base64url");
}

/** The tools and rules for checking edited arguments. */
export interface EditGuard {
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  readonly rules: readonly PermissionRule[];
}

/**
 * Checks edited arguments against the tool's schema and the rules, and returns what they touch. An answer whose
 * arguments fail the check is not stored, so a call with a stored answer can always run.
 */
export function checkEditedInput(
  { toolName, editedInputSchema }: Pick<PermissionRecord, "toolName" | "editedInputSchema">,
  input: JsonObject,
  { serverTools, rules }: EditGuard,
): EditedInput | { readonly error: string } {
  if (!editedInputSchema) return { error: "the arguments of this tool cannot be edited" };
  const asShown = tryParse(compileInputSchema(editedInputSchema), input);
  if ("error" in asShown) return asShown;
  const tool = serverTools.get(toolName);
  if (!tool) return { error: "the tool no longer exists, so these arguments cannot be checked" };
  const checked = tryParse(tool.input, input);
  if ("error" in checked) return checked;
  const need = needOf(() => permissionNeed(tool, checked.value));
  if (!need) return { error: "the tool could not determine what these arguments touch" };
  if (judgeCall(toolName, need, rules) === "deny") return { error: toRuleText(need) };
  return { input, patterns: need.values.map(literalPattern) };
}

function needOf(read: () => PermissionNeed): PermissionNeed | undefined {
  try {
    return read();
  } catch {
    // The tool's own definition failed. Its error may contain anything, so it is not passed on.
    return undefined;
  }
}

/** @throws {AppError} `malformed` unless `json` is a JSON object that can be stored exactly as written */
export function parseEditedInput(json: string): JsonObject {
  try {
    const read = parseExactJson(json, "permission_response.editedInputJson");
    if ("value" in read) return read.value;
    throw new AppError("malformed", read.fault);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("malformed", "permission_response.editedInputJson: expected JSON");
  }
}
