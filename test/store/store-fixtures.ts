import type { Call } from "../../src/conversation/call.ts";
import type { TurnBlock } from "../../src/conversation/block.ts";
import { type SessionClaim, claimSession } from "../../src/store/sessions/leases.ts";
import { type NewPermission, insertPermission } from "../../src/store/permissions/ask-permission.ts";
import { saveCall } from "../../src/store/calls.ts";
import { type NewTurnRow, insertTurn } from "../../src/store/turns/write-turns.ts";
import type { PermissionRecord } from "../../src/store/permissions/load-permissions.ts";
import type { Sql } from "../../src/store/database/pool.ts";
import type { SessionWriter } from "../../src/store/sessions/session-writer.ts";
import { createId } from "../../src/lib/id.ts";
import { callOf } from "../support/call.ts";

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

/** Returns a writer for the session. It writes with the epoch of one claim, by default of the first. */
export function writerOf(sql: Sql, sessionId: string, epoch = 1): SessionWriter {
  return { sql, lease: { sessionId, epoch } };
}

/** Stores a new session. */
export async function storedSession(sql: Sql): Promise<SessionWriter> {
  const claim = sessionClaim();
  await claimSession(sql, claim);
  return writerOf(sql, claim.sessionId);
}

export function newTurn(changes: Partial<NewTurnRow> = {}): NewTurnRow {
  return {
    id: createId(),
    participantIdentity: "ann",
    parentMessageId: createId(),
    messageId: createId(),
    input: [{ type: "text", text: "Hello" }],
    ...changes,
  };
}

/** Stores a new session with a running turn. */
export async function storedTurn(sql: Sql): Promise<{ readonly writer: SessionWriter; readonly turn: NewTurnRow }> {
  const writer = await storedSession(sql);
  const turn = newTurn();
  await insertTurn(writer, turn);
  return { writer, turn };
}

export function newCall(turnId: string, changes: Partial<Call> = {}): Call {
  const own = { id: createId(), turnId, messageId: "of its turn", toolUseId: `toolu_${createId()}` };
  return callOf({ ...own, toolName: "get_forecast", executionAsked: "either", input: { city: "Utrecht" }, ...changes });
}

/** Stores a new session with a running turn and a pending call. */
export async function storedCall(sql: Sql): Promise<{
  readonly writer: SessionWriter;
  readonly turn: NewTurnRow;
  readonly call: Call;
}> {
  const { writer, turn } = await storedTurn(sql);
  const call = newCall(turn.id);
  await saveCall(writer, call);
  return { writer, turn, call };
}

export function textBlock(sequence: number, text = `text ${sequence}`): TurnBlock {
  return { sequence, blockType: "text", textContent: text, content: null };
}

export function useBlock(sequence: number, toolUseId: string, name = "get_forecast"): TurnBlock {
  const content = { tool_use_id: toolUseId, tool_name: name, input: {} };
  return { sequence, blockType: "tool_use", textContent: null, content };
}

/** Changes to a permission request. Without a `sessionId`, the request is for a new session. */
export type PermissionChanges = Partial<NewPermission> & { readonly sessionId?: string };

/**
 * Returns a permission request that asks ann about a new pending call. The rows that the request refers to are stored,
 * but the request itself is not.
 */
export async function newPermission(
  sql: Sql,
  { sessionId, ...changes }: PermissionChanges = {},
): Promise<{ readonly writer: SessionWriter; readonly permission: NewPermission }> {
  const writer = sessionId === undefined ? await storedSession(sql) : writerOf(sql, sessionId);
  const turn = newTurn();
  await insertTurn(writer, turn);
  const call = newCall(turn.id);
  await saveCall(writer, call);
  const permission: NewPermission = {
    id: createId(),
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
    whileRunning: false,
    editedInputSchema: null,
    waitMs: 60_000,
    ...changes,
  };
  return { writer, permission };
}

/** Stores the permission request that `newPermission` returns. */
export async function storedPermission(sql: Sql, changes: PermissionChanges = {}): Promise<PermissionRecord> {
  const { writer, permission } = await newPermission(sql, changes);
  return await insertPermission(writer, permission);
}

/** Stores a new session in its own room. */
export async function storedRoom(
  sql: Sql,
  room = `room-${createId()}`,
): Promise<{ readonly room: string; readonly sessionId: string }> {
  const claim = sessionClaim({ conversationId: room, room });
  await claimSession(sql, claim);
  return { room, sessionId: claim.sessionId };
}
