import { endedCall, type Call, type Outcome } from "../../conversation/call.ts";
import { danglingUses, toolUseId } from "../../conversation/block.ts";
import { type TurnRecord } from "../../conversation/turn-record.ts";
import { loadCallsOfTurn, loadOpenCalls, saveCall } from "../../store/calls.ts";
import { loadTurns } from "../../store/turns/load-turns.ts";
import { loadWaitingMessages, type WaitingMessage } from "../../store/turns/waiting-messages.ts";
import { type Sql } from "../../store/database/pool.ts";
import { type SessionWriter } from "../../store/sessions/session-writer.ts";
import { promisedUses, toldResult } from "../turns/outcome-turn.ts";
import { outcomeOfLeft, repairTurn } from "./repair-turn.ts";
import { type UnfinishedTurn } from "../turns/turn-queue.ts";

/** A turn that began longer ago is not taken up again, but ended: nobody waits for its answer any more. */
const RESUMABLE_MS = 10 * 60_000;

export interface Restored {
  /** Turns that have ended, oldest first. */
  readonly past: readonly TurnRecord[];
  readonly unfinished: UnfinishedTurn | undefined;
  /** Messages that waited for their turn. */
  readonly waiting: readonly WaitingMessage[];
  /** The calls whose outcome the model was promised, whether they have ended or not. */
  readonly promised: readonly Call[];
}

/** Loads a session's turns. If the last was left running, it may be taken up again; any other running turn is ended. */
export async function restore(writer: SessionWriter, { maxBytes }: { readonly maxBytes: number }): Promise<Restored> {
  const { sql, lease } = writer;
  const turns = await loadTurns(sql, lease);
  const last = turns.at(-1);
  const isResumable = last?.state === "running" && Date.now() - last.createdAt < RESUMABLE_MS;
  const past: TurnRecord[] = [];
  for (const turn of isResumable ? turns.slice(0, -1) : turns) {
    past.push(turn.state === "running" ? await repairTurn(writer, turn, maxBytes) : turn);
  }
  const promised = await loadPromised(sql, isResumable ? [...past, last] : past);
  const unfinished = isResumable ? { turn: last, calls: await loadCallsOfTurn(sql, { turnId: last.id }) } : undefined;
  const waiting = await loadWaitingMessages(writer, { withinMs: RESUMABLE_MS });
  const restored = { past, unfinished, waiting, promised };
  await closeOrphanedCalls(writer, restored);
  return restored;
}

async function loadPromised(sql: Sql, turns: readonly TurnRecord[]): Promise<Call[]> {
  const uses = promisedUses(turns);
  const calls: Call[] = [];
  for (const turn of turns) {
    const hasPromised = turn.blocks.some((block) => uses.has(toolUseId(block) ?? ""));
    if (hasPromised) calls.push(...(await loadCallsOfTurn(sql, { turnId: turn.id })));
  }
  return calls.filter((call) => uses.has(call.toolUseId));
}

/**
 * Ends the stored calls that nobody waits for any more. A result block and the end of its call are stored separately,
 * and a worker may have died between the two: then the call ends as the model was told.
 */
async function closeOrphanedCalls(writer: SessionWriter, { past, unfinished, promised }: Restored): Promise<void> {
  const turns = unfinished ? [...past, unfinished.turn] : past;
  const awaited = new Set([
    ...promised.map((call) => call.toolUseId),
    ...danglingUses(unfinished?.turn.blocks ?? []).map(toolUseId),
  ]);
  for (const call of await loadOpenCalls(writer.sql, writer.lease)) {
    if (awaited.has(call.toolUseId)) continue;
    await saveCall(writer, endedCall(call, toldOutcome(turns, call.toolUseId) ?? outcomeOfLeft(call)));
  }
}

function toldOutcome(turns: readonly TurnRecord[], useId: string): Outcome | undefined {
  const { content, is_error: isError = false } = toldResult(turns, useId)?.content ?? {};
  if (typeof content !== "string") return undefined;
  if (isError === true) return { state: "error", errorCode: "execution_error", errorMessage: content };
  return { state: "success", result: { value: content } };
}
