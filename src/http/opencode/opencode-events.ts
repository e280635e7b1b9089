import type { Call } from "../../conversation/call.ts";
import { createId } from "../../lib/id.ts";
import type { JsonObject } from "../../lib/json.ts";
import { memoizeByObject } from "../../lib/memoize-by-object.ts";
import { toToolCallState } from "../../session/calls/tool-call-state.ts";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";
import type { SseEvent } from "../sse/sse-stream.ts";

type ToolState = Readonly<Record<string, unknown>> & {
  readonly status: "pending" | "running" | "completed" | "error";
};

/** Returns an event for opencode's stream, in which the data contains the type. */
export function opencodeEvent(type: string, properties: object = {}): SseEvent {
  return { data: { id: `evt_${createId()}`, type, properties } };
}

/**
 * Returns a request as opencode's `PermissionRequest`. The ids are ours and lack opencode's prefixes, which opencode's
 * clients do not check.
 */
export function toOpencodePermission(permission: PermissionRecord) {
  const { id, sessionId, type, pattern, metadata, messageId, callId, title } = permission;
  return {
    id,
    sessionID: sessionId,
    permission: type,
    patterns: pattern,
    metadata: { ...metadata, title },
    // What `always` would grant.
    always: pattern,
    tool: { messageID: messageId, callID: callId },
  };
}

export function toOpencodeAsked(permission: PermissionRecord): SseEvent {
  return opencodeEvent("permission.asked", toOpencodePermission(permission));
}

/** In opencode every request ends with a reply, so a request that expired or was withdrawn ends with a `reject`. */
export function toOpencodeReplied({ id, sessionId, state, isAlways }: PermissionRecord): SseEvent {
  const approval = isAlways ? "always" : "once";
  const reply = state === "approved" ? approval : "reject";
  return opencodeEvent("permission.replied", { sessionID: sessionId, requestID: id, reply });
}

/** Returns a call as a tool part, or `undefined` if it is not shown. */
export const toPartUpdated = memoizeByObject((call: Call, sessionID: string): SseEvent | undefined => {
  const state = toToolPartState(call);
  if (!state) return undefined;
  const { id, messageId: messageID, toolName: tool } = call;
  const part = { id, sessionID, messageID, type: "tool", callID: id, tool, state };
  return opencodeEvent("message.part.updated", { sessionID, part, time: Date.now() });
});

function toToolPartState(call: Call): ToolState | undefined {
  const shown = toToolCallState(call);
  if (!shown) return undefined;
  const {
    name: title,
    status,
    inputJson = "",
    output = "",
    logs,
    finishedAt: end = Date.now(),
    startedAt: start = end,
  } = shown;
  const input = (inputJson === "" ? {} : JSON.parse(inputJson)) as JsonObject;
  const metadata = { ...(JSON.parse(shown.metadataJson) as JsonObject), logs };
  switch (status) {
    case "pending":
      return { status, input, raw: inputJson };
    case "running":
      return { status, input, title, metadata, time: { start } };
    case "success":
      return { status: "completed", input, output, title, metadata, time: { start, end } };
    case "error":
    case "cancelled":
      return { status: "error", input, error: shown.error ?? "", metadata, time: { start, end } };
  }
}
