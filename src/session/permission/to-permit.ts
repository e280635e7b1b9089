import { type Call } from "../../conversation/call.ts";
import { isGranted } from "../../permission/decide.ts";
import { type PermissionRecord } from "../../store/permissions/load-permissions.ts";
import { type PermissionNeed, type Permit } from "../../tool/permission-need.ts";
import { hashInput } from "./hash-input.ts";

/**
 * What a decided request lets its call do. Only an approval of exactly this call's tool and arguments lets it run, and
 * of what they touch: by the time that another worker takes the call up, a path may lead elsewhere.
 */
export function toPermit(permission: PermissionRecord, call: Call, need: PermissionNeed): Permit {
  const { state, message, editedInput, inputHash, createdAt, expiresAt, participantIdentity } = permission;
  switch (state) {
    case "approved":
      if (inputHash !== hashInput(call)) return refused("the approval was for other arguments than these");
      if (!editedInput && !isGranted(need, permission.pattern))
        return refused("it would touch something else now than what was asked about");
      return { isAllowed: true, askedOf: participantIdentity, ...(editedInput && { editedInput }) };
    case "rejected":
      return refused(`the participant rejected it${message ? `. What the participant said: ${message}` : ""}`);
    case "expired":
      return refused(`no answer within ${Math.round((expiresAt - createdAt) / 1_000)} s`);
    case "withdrawn":
    case "asked":
      return refused("the question was withdrawn");
  }
}

/** Why a rule forbids it. */
export function toRuleText({ type, values }: PermissionNeed): string {
  return `a rule does not allow it (${type}: ${values.join(", ")})`;
}

export function toUnaskable(): Permit {
  return refused("it needs the participant's permission, for which a caller by telephone cannot be asked here");
}

function refused(why: string): Permit {
  return { isAllowed: false, why };
}
