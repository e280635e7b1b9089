import { type TurnBlock } from "../../src/conversation/block.ts";
import { claimSession, type SessionClaim } from "../../src/store/claim-session.ts";
import { insertPermission, type NewPermission } from "../../src/store/insert-permission.ts";
import { insertToolCall, type NewToolCall } from "../../src/store/insert-tool-call.ts";
import { insertTurn, type NewTurn } from "../../src/store/insert-turn.ts";
import { type PermissionRecord } from "../../src/store/permission-record.ts";
import { type Sql } from "../../src/store/pool.ts";
import { createId } from "../../src/lib/id.ts";

export function sessionClaim(changes: Partial<SessionClaim> = {}): SessionClaim {
  return {
    sessionId: createId(),
    conversationId: createId(),
    room: "kitchen",
    participantIdentity: "ann",
    owner: "worker-1",
    leaseMs: 30_000,
    ...changes,
  };
}

/** A new session; its id. */
export async function storedSession(sql: Sql): Promise<string> {
  const claim = sessionClaim();
  await claimSession(sql, claim);
  return claim.sessionId;
}

export function newTurn(sessionId: string, changes: Partial<NewTurn> = {}): NewTurn {
  return {
    id: createId(),
    sessionId,
    participantIdentity: "ann",
    parentMessageId: createId(),
    messageId: createId(),
    input: [{ type: "text", text: "Hello" }],
    ...changes,
  };
}

/** A new running turn in a new session; its id. */
export async function storedTurn(sql: Sql): Promise<string> {
  const turn = newTurn(await storedSession(sql));
  await insertTurn(sql, turn);
  return turn.id;
}

export function newCall(turnId: string, changes: Partial<NewToolCall> = {}): NewToolCall {
  return {
    id: createId(),
    turnId,
    toolUseId: `toolu_${createId()}`,
    name: "get_forecast",
    executionAsked: "either",
    timeoutMs: 30_000,
    idempotencyKey: "key",
    input: { city: "Utrecht" },
    detail: "full",
    ...changes,
  };
}

/** A new pending call in a new turn. */
export async function storedCall(sql: Sql): Promise<NewToolCall> {
  const call = newCall(await storedTurn(sql));
  await insertToolCall(sql, call);
  return call;
}

export function textBlock(sequence: number, text = `text ${sequence}`): TurnBlock {
  return { sequence, blockType: "text", textContent: text, content: null };
}

/** A request about a new pending call that asks ann. */
export async function newPermission(sql: Sql, changes: Partial<NewPermission> = {}): Promise<NewPermission> {
  const turn = newTurn(changes.sessionId ?? (await storedSession(sql)));
  await insertTurn(sql, turn);
  const call = newCall(turn.id);
  await insertToolCall(sql, call);
  return {
    id: createId(),
    sessionId: turn.sessionId,
    turnId: turn.id,
    callId: call.id,
    messageId: turn.messageId,
    participantIdentity: "ann",
    toolName: "write",
    type: "edit",
    pattern: ["notes/today.md"],
    title: "Write notes/today.md",
    metadata: {},
    inputHash: "hash",
    editedInputSchema: null,
    waitMs: 60_000,
    ...changes,
  };
}

/** The same, stored. */
export async function storedPermission(sql: Sql, changes: Partial<NewPermission> = {}): Promise<PermissionRecord> {
  return await insertPermission(sql, await newPermission(sql, changes));
}

/** A new session in a room of its own. */
export async function storedRoom(
  sql: Sql,
  room = `room-${createId()}`,
): Promise<{ readonly room: string; readonly sessionId: string }> {
  const claim = sessionClaim({ conversationId: room, room });
  await claimSession(sql, claim);
  return { room, sessionId: claim.sessionId };
}
