import { z } from "zod";
import { cleanJson, cleanText } from "../../lib/clean-json.ts";
import { type JsonObject } from "../../lib/json.ts";
import { type PermissionDecision } from "../../store/permissions/reply-to-permission.ts";
import { type Refusal } from "../access/room-access.ts";

const RESPONSES = ["approve", "once", "always", "reject"] as const;
const MAX_MESSAGE_LENGTH = 4_000;

const message = z
  .string("expected a text")
  .max(MAX_MESSAGE_LENGTH, `expected at most ${MAX_MESSAGE_LENGTH} characters`)
  .optional();
const responses = z.enum(RESPONSES, `expected one of ${RESPONSES.join(", ")}`);
const replies = z.enum(["once", "always", "reject"], "expected one of once, always, reject");
const editedInput = z.record(z.string(), z.unknown(), "expected an object").optional();

const responseBody = z.strictObject({ response: responses, message, editedInput }, "expected an object");
const replyBody = z.strictObject({ reply: replies, message }, "expected an object");

/** An answer as it was sent: edited arguments are still to be judged. */
export type SentDecision =
  | Extract<PermissionDecision, { readonly kind: "reject" }>
  | { readonly kind: "approve"; readonly isAlways: boolean; readonly editedInput?: JsonObject };

interface Answer {
  readonly response: (typeof RESPONSES)[number];
  readonly message?: string | undefined;
  readonly editedInput?: Readonly<Record<string, unknown>> | undefined;
}

/** Our own body: `{response, message?, editedInput?}`. */
export function parseResponseBody(body: unknown): SentDecision | Refusal {
  const parsed = responseBody.safeParse(body);
  return parsed.success ? toDecision(parsed.data) : toProblem(parsed.error);
}

/** The body of opencode's newer routes: `{reply, message?}`. */
export function parseReplyBody(body: unknown): SentDecision | Refusal {
  const parsed = replyBody.safeParse(body);
  if (!parsed.success) return toProblem(parsed.error);
  const { reply: response, message: text } = parsed.data;
  return toDecision({ response, message: text });
}

/** What has no place in the decision is refused: a caller that is told yes may rely on all that it has sent. */
function toDecision({ response, message: text = "", editedInput: edited }: Answer): SentDecision | Refusal {
  if (response !== "reject") {
    if (text !== "") return { status: 400, error: "message: expected none beside an approval" };
    return {
      kind: "approve",
      isAlways: response === "always",
      ...(edited && { editedInput: cleanJson(edited) as JsonObject }),
    };
  }
  if (edited) return { status: 400, error: "editedInput: expected none beside a rejection" };
  return { kind: "reject", ...(text !== "" && { message: cleanText(text) }) };
}

function toProblem({ issues: [issue] }: z.ZodError): Refusal {
  if (issue?.code === "unrecognized_keys")
    return { status: 400, error: `${issue.keys.join(", ")}: expected no such field` };
  return { status: 400, error: `${issue?.path.join(".") || "body"}: ${issue?.message ?? "is invalid"}` };
}

/** What opencode's clients read a missing permission from. */
export function toNotFoundError(requestID: string, { error }: Refusal): object {
  return { _tag: "PermissionNotFoundError", requestID, message: error };
}
