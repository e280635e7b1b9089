import { type PermissionRecord } from "../store/permission-record.ts";
import { type Call } from "../tool/call.ts";
import { type PermissionNeed, type Permit } from "../tool/permission-need.ts";
import { hashInput } from "./hash-input.ts";

/** What a decided request lets its call do. Only an approval of exactly this call's tool and arguments lets it run. */
export function toPermit(permission: PermissionRecord, call: Call): Permit {
  const { state, message, editedInput, inputHash, createdAt, expiresAt } = permission;
  switch (state) {
    case "approved":
      if (inputHash !== hashInput(call)) return refused("the approval was for other arguments than these");
      return { isAllowed: true, ...(editedInput && { editedInput }) };
    case "rejected":
      return refused(`the participant rejected it${message ? `. What the participant said: ${message}` : ""}`);
    case "expired":
      return refused(`no answer within ${Math.round((expiresAt - createdAt) / 1_000)} s`);
    case "withdrawn":
    case "asked":
      return refused("the question was withdrawn");
  }
}

/** What the model is told of a call that a rule denies. */
export function toDenial(need: PermissionNeed): string {
  return `Not run: ${toRuleText(need)}`;
}

export function toRuleText({ type, patterns }: PermissionNeed): string {
  return `a rule does not allow it (${type}: ${patterns.join(", ")})`;
}

export function toUnaskable(): Permit {
  return refused("it needs the participant's permission, for which a caller by telephone cannot be asked here");
}

function refused(why: string): Permit {
  return { isAllowed: false, why: `Not run: ${why}` };
}
