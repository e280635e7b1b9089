import { z } from "zod";
import { cleanText, readExactJson } from "../../lib/clean-json.ts";
import { isRecord, type JsonObject } from "../../lib/json.ts";
import type { PermissionDecision } from "../../store/permissions/reply-to-permission.ts";

const RESPONSES = ["approve", "once", "always", "reject"] as const;
const MAX_MESSAGE_LENGTH = 4_000;

const message = z
  .string("expected a string")
  .max(MAX_MESSAGE_LENGTH, `expected at most ${MAX_MESSAGE_LENGTH} characters`)
  .optional();
const responses = z.enum(RESPONSES, `expected one of ${RESPONSES.join(", ")}`);
const replies = z.enum(["once", "always", "reject"], "expected one of once, always, reject");
/** Not a `z.record`, which would drop a key `__proto__`. */
const editedInput = z.custom<Record<string, unknown>>(isRecord, "expected an object").optional();

/** An answer as it was sent. Edited arguments have not been checked yet. */
export type SentDecision =
  | Extract<PermissionDecision, { readonly kind: "reject" }>
  | { readonly kind: "approve"; readonly isAlways: boolean; readonly editedInput?: JsonObject };

interface Answer {
  readonly response: (typeof RESPONSES)[number];
  readonly message?: string | undefined;
  readonly editedInput?: Readonly<Record<string, unknown>> | undefined;
}

/** Our own body: `{response, message?, editedInput?}`. */
export const responseBody = z
  .strictObject({ response: responses, message, editedInput }, "expected an object")
  .transform(toSentDecision);

const repeatedId = z.string("expected a string").optional();

/** Like `responseBody`, plus the two ids in the protocol's PermissionResponse, which the path contains as well. */
export const namedResponseBody = z
  .strictObject(
    { response: responses, message, editedInput, sessionId: repeatedId, permissionId: repeatedId },
    "expected an object",
  )
  .transform(({ sessionId, permissionId, ...answer }, context) => ({
    decision: toSentDecision(answer, context),
    named: { sessionId, permissionId },
  }));

/** The body of opencode's newer routes: `{reply, message?}`. */
export const replyBody = z
  .strictObject({ reply: replies, message }, "expected an object")
  .transform(({ reply: response, message: text }, context) => toSentDecision({ response, message: text }, context));

/** Rejects fields that do not fit the decision, so that a response of `true` means that every field was used. */
function toSentDecision(
  { response, message: text = "", editedInput: edited }: Answer,
  context: z.RefinementCtx,
): SentDecision {
  if (response === "reject") {
    if (edited) context.addIssue({ code: "custom", path: ["editedInput"], message: "not allowed with a rejection" });
    return { kind: "reject", ...(text !== "" && { message: cleanText(text) }) };
  }
  if (text !== "") context.addIssue({ code: "custom", path: ["message"], message: "not allowed with an approval" });
  const read = edited && readExactJson(edited, "input");
  if (read && "fault" in read) {
    context.addIssue({ code: "custom", path: ["editedInput"], message: read.fault });
  }
  return {
    kind: "approve",
    isAlways: response === "always",
    ...(read && "value" in read && { editedInput: read.value }),
  };
}
