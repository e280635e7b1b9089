import { type Call, INITIAL_CALL_STATE } from "../../conversation/call.ts";
import type { TurnRecord } from "../../conversation/turn-record.ts";
import { type JsonObject, isRecord } from "../../lib/json.ts";
import { MAX_PAYLOAD_BYTES } from "../../store/events.ts";
import type { TurnEvent } from "../../turn/turn-event.ts";
import { cleanDelta } from "./block-events.ts";
import type { SessionEvent, TurnSpoken } from "./session-event.ts";

const LIVE_EVENTS = [
  "turn_start",
  "block_start",
  "block_delta",
  "block_stop",
  "tool_state",
  "permission.asked",
  "permission.extended",
  "permission.replied",
  "usage",
  "turn_complete",
  "turn_spoken",
  /** Some events were not sent: followers must read the store. */
  "gap",
] as const;

/** One event on its way from the host process to the session's followers. */
export interface LiveEvent {
  readonly event: (typeof LIVE_EVENTS)[number];
  /** The id of the row in `turns`; `""` for a gap. */
  readonly turn: string;
  /**
   * The data that followers need at once. They load the rest from the store: the block for a `block_stop`, most of the
   * call for a `tool_state`, and the permission that a `permissionId` refers to.
   */
  readonly data: JsonObject;
}

const PERMISSION_EVENTS = {
  permission_asked: "permission.asked",
  permission_extended: "permission.extended",
  permission_replied: "permission.replied",
} as const;
type PermissionEvent = Extract<SessionEvent, { readonly type: keyof typeof PERMISSION_EVENTS }>;

/**
 * The maximum number of characters of an id, a name or a message in an event. Limited because clients and the model
 * choose some of them.
 */
const MAX_TEXT_LENGTH = 300;
const PIECE = /[^]{1,1000}/gu;

/**
 * Converts a session event to payloads, in order. A long delta is split into pieces; a long delta of a tool result is
 * omitted, because its block is stored. Any other event that is too long becomes a gap.
 */
export function toPayloads(event: SessionEvent): readonly LiveEvent[] {
  if (event.type === "tool_state") return [];
  if (event.type === "tool_state_stored") return toToolState(event.call);
  if (event.type !== "turn") return [toPermission(event)];
  const live = toLiveEvent(event.turn, event.event);
  if (!live) return [];
  if (JSON.stringify(live).length * 3 <= MAX_PAYLOAD_BYTES || fits(live)) return [live];
  return live.event === "block_delta" ? inPieces(live) : [{ event: "gap", turn: "", data: {} }];
}

/** Parses a payload. Returns `undefined` for JSON that `EventPublisher` cannot have sent. */
export function parseLiveEvent(json: string): LiveEvent | undefined {
  const value = parseJson(json);
  if (!isRecord(value) || typeof value["turn"] !== "string" || !isRecord(value["data"])) return undefined;
  const event = LIVE_EVENTS.find((name) => name === value["event"]);
  return event && { event, turn: value["turn"], data: value["data"] as JsonObject };
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function toLiveEvent(turn: TurnRecord, event: TurnEvent | TurnSpoken): LiveEvent | undefined {
  const turnId = turn.messageId;
  const live = (data: JsonObject): LiveEvent => ({ event: event.type, turn: turn.id, data: { turnId, ...data } });
  switch (event.type) {
    case "turn_start":
      return live({});
    case "block_stop":
      return live({ sequence: event.sequence });
    case "usage":
      return live({ step: event.step, usage: { ...event.usage } });
    case "turn_complete": {
      const { state, stopReason, usage, error } = event;
      return live({
        state,
        ...(stopReason !== undefined && { stopReason: short(stopReason) }),
        usage: { ...usage },
        ...(error && { errorCode: error.code, errorMessage: short(error.message) }),
      });
    }
    case "turn_spoken": {
      const { state, heard } = event;
      return live({ state, ...(heard !== undefined && { heard: short(heard) }) });
    }
    case "block_start": {
      const { sequence, blockType, tool } = event;
      return live({
        sequence,
        type: short(blockType),
        blockType: short(blockType),
        ...(tool && { toolUseId: short(tool.toolUseId), toolName: short(tool.toolName) }),
      });
    }
    case "block_delta": {
      const delta = cleanDelta(event.delta);
      return delta && live({ sequence: event.sequence, delta });
    }
  }
}

function toToolState(call: Call): LiveEvent[] {
  return call.detail === "off" ? [] : [{ event: "tool_state", turn: call.turnId, data: toLiveCall(call, short) }];
}

function toPermission({ type, permission }: PermissionEvent): LiveEvent {
  const { id: permissionId, turnId: turn, messageId: turnId, state } = permission;
  return { event: PERMISSION_EVENTS[type], turn, data: { turnId, permissionId, state } };
}

function inPieces({ data, ...rest }: LiveEvent): LiveEvent[] {
  const delta = isRecord(data["delta"]) ? (data["delta"] as JsonObject) : {};
  const key = "text" in delta ? "text" : "partialJson";
  const whole = delta[key];
  if (typeof whole !== "string") return [];
  return (whole.match(PIECE) ?? []).map((piece) => ({ ...rest, data: { ...data, delta: { ...delta, [key]: piece } } }));
}

/** Whether an event fits into a payload, of which 200 bytes are reserved for the session's id and the number. */
function fits(live: LiveEvent): boolean {
  return Buffer.byteLength(JSON.stringify(live)) <= MAX_PAYLOAD_BYTES - 200;
}

function short(text: string): string {
  return text.slice(0, MAX_TEXT_LENGTH).toWellFormed();
}

/** The fields of a call that may change and that fit into a notification. */
const REPORTED_FIELDS = (Object.keys(INITIAL_CALL_STATE) as (keyof typeof INITIAL_CALL_STATE)[]).filter(
  (field) => !["outcome", "logs", "editedInput", "hasStoredPermission"].includes(field),
);

/**
 * Returns the part of a call that a live event carries: its ids and the fields that may change. Arguments, logs and the
 * result are too large for a notification, and are loaded from the store.
 */
export function toLiveCall(call: Call, short: (text: string) => string): JsonObject {
  const { id: callId, messageId: turnId, outcome } = call;
  const changed = REPORTED_FIELDS.flatMap((field) => {
    const value = call[field];
    return value === undefined ? [] : [[field, typeof value === "string" ? short(value) : value] as const];
  });
  return {
    turnId,
    callId,
    toolUseId: short(call.toolUseId),
    name: short(call.toolName),
    executionAsked: call.executionAsked,
    timeoutMs: call.timeoutMs,
    ...(Object.fromEntries(changed) as JsonObject),
    ...(outcome && "errorCode" in outcome && { errorCode: short(outcome.errorCode) }),
    logCount: call.logs.length,
  };
}

/** Returns a stored call as it was when a live event was sent, because the row may have changed since. */
export function callAsReported(stored: Call, reported: JsonObject): Call {
  const fields = Object.fromEntries(REPORTED_FIELDS.map((field) => [field, reported[field]])) as Pick<
    Call,
    (typeof REPORTED_FIELDS)[number]
  >;
  const { state, addressee } = fields;
  return {
    ...stored,
    ...fields,
    addressee: addressee === undefined ? undefined : stored.addressee,
    logs: stored.logs.slice(0, Number(reported["logCount"])),
    outcome: state === stored.state ? stored.outcome : undefined,
  };
}
