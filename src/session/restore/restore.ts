import { asksFor, endedCall, type Call, type Outcome } from "../../conversation/call.ts";
import { asBlocks, contentText } from "../../conversation/content.ts";
import { danglingUses, toolUseId } from "../../conversation/block.ts";
import {
  loadCallsOfTurn,
  loadForms,
  loadUnsettledCalls,
  markTold,
  saveCall,
  type UnsettledCall,
} from "../../store/calls.ts";
import type { SessionWriter } from "../../store/sessions/session-writer.ts";
import { loadLastPosition, loadMessageIds } from "../../store/turns/find-turns.ts";
import { loadRunningTurns, loadUnspokenTurn } from "../../store/turns/load-turns.ts";
import { loadWaitingMessages, type WaitingMessage } from "../../store/turns/waiting-messages.ts";
import { isReceipt } from "../../tool/outcome.ts";
import type { Window } from "../../turn/shown-talk.ts";
import { KNOWN_MESSAGES } from "../inbox/said.ts";
import type { TalkArchive } from "../record/talk-archive.ts";
import type { UnfinishedTurn } from "../turns/turn-queue.ts";
import { outcomeOfLeft, repairTurn } from "./repair-turn.ts";

/** A turn that began longer ago is not taken up again, but ended: nobody waits for its answer any more. */
const RESUMABLE_MS = 10 * 60_000;

export interface Restored {
  /** What the next turn goes on from. */
  readonly window: Window;
  /** The position of the newest turn that has ended, replaced or not; 0 without turns. */
  readonly lastPosition: number;
  /** The ids of the newest user messages that turns began with, oldest first. */
  readonly messageIds: readonly string[];
  readonly unfinished: UnfinishedTurn | undefined;
  /** Messages that waited for their turn. */
  readonly waiting: readonly WaitingMessage[];
  /** The calls whose outcome the model was promised, whether they have ended or not. */
  readonly promised: readonly Call[];
  /** The forms of calls that may go on, answered or not. */
  readonly forms: readonly Call[];
}

interface RestoreOptions {
  readonly archive: TalkArchive;
  /** Limit of a result that the model is shown. */
  readonly resultMaxBytes: number;
}

/**
 * Loads what a session goes on from, whose size does not grow with the talk: the turns that the model is shown, and
 * what is open. If the last turn was left running, or its answer was not spoken to the end, it may be taken up again. Any
 * other turn that was left is ended.
 */
export async function restore(writer: SessionWriter, { archive, resultMaxBytes }: RestoreOptions): Promise<Restored> {
  const { sql, lease } = writer;
  const [running, newest, messageIds] = await Promise.all([
    loadRunningTurns(sql, lease),
    loadLastPosition(sql, lease),
    loadMessageIds(sql, { sessionId: lease.sessionId, limit: KNOWN_MESSAGES }),
  ]);
  const unspoken = await loadUnspokenTurn(sql, { ...lease, position: newest });
  const open = unspoken ? [...running, unspoken] : running;
  const last = open.at(-1);
  const isResumable = last?.position === newest && Date.now() - last.createdAt < RESUMABLE_MS;
  for (const turn of isResumable ? open.slice(0, -1) : open) await repairTurn(writer, turn, resultMaxBytes);
  const unfinished = isResumable ? { turn: last, calls: await loadCallsOfTurn(sql, { turnId: last.id }) } : undefined;
  const window = await archive.windowBefore(unfinished?.turn.position, unfinished?.turn.context);
  const { promised, goingOn } = await settleCalls(writer, unfinished);
  const forms = await loadForms(sql, { sessionId: lease.sessionId, callIds: goingOn });
  const waiting = await loadWaitingMessages(writer, { withinMs: RESUMABLE_MS });
  const lastPosition = unfinished ? newest - 1 : newest;
  return { window, lastPosition, messageIds, unfinished, waiting, promised, forms };
}

/** Ends the open turns and calls of a session that is not continued. Messages that still wait for their turn are dropped. */
export async function endOpen(
  writer: SessionWriter,
  { resultMaxBytes }: Pick<RestoreOptions, "resultMaxBytes">,
): Promise<void> {
  const { sql, lease } = writer;
  for (const turn of await loadRunningTurns(sql, lease)) await repairTurn(writer, turn, resultMaxBytes);
  for (const unsettled of await loadUnsettledCalls(sql, lease))
    if (!unsettled.call.outcome) await endLeft(writer, unsettled);
  await loadWaitingMessages(writer, { withinMs: 0 });
}

interface Settled {
  /** The calls whose outcome the model was promised. */
  readonly promised: readonly Call[];
  /** The ids of all calls that are not ended here: somebody takes them up. */
  readonly goingOn: readonly string[];
}

/**
 * Finds the calls that go on, and ends those that nobody waits for any more. A form is treated as its call. A result
 * block and the end of its call are stored separately, and a worker may have died between the two: then the call ends
 * with what the model was told.
 */
async function settleCalls(writer: SessionWriter, unfinished: UnfinishedTurn | undefined): Promise<Settled> {
  const taken = new Set(danglingUses(unfinished?.turn.blocks ?? []).map(toolUseId));
  const isTaken = (call: Call) => taken.has(call.toolUseId) && call.turnId === unfinished?.turn.id;
  const unsettledCalls = await loadUnsettledCalls(writer.sql, writer.lease);
  const promised = unsettledCalls
    .filter(({ resultInTurn, resultTold, isReplaced }) => isPromise(resultInTurn) && !resultTold && !isReplaced)
    .map(({ call }) => call);
  const goingOn = unsettledCalls.flatMap(({ call }) => (promised.includes(call) || isTaken(call) ? call.id : []));
  const known: string[] = [];
  for (const unsettled of unsettledCalls) {
    const { call } = unsettled;
    if (goingOn.includes(asksFor(call) ?? call.id)) continue;
    if (call.outcome) known.push(call.id);
    else await endLeft(writer, unsettled);
  }
  await markTold(writer, { callIds: known });
  return { promised, goingOn };
}

/** Ends a call with what the model was told of it. */
async function endLeft(writer: SessionWriter, unsettled: UnsettledCall): Promise<void> {
  const { call } = unsettled;
  await saveCall(writer, endedCall(call, toldOutcome(unsettled) ?? outcomeOfLeft(call)));
}

function isPromise(result: UnsettledCall["resultInTurn"]): boolean {
  return isReceipt(result?.["content"]);
}

/** The outcome that the model was told; `undefined` when it was only promised one. */
function toldOutcome({ resultInTurn, resultTold }: UnsettledCall): Outcome | undefined {
  const { content, is_error: isError = false } = resultTold ?? (isPromise(resultInTurn) ? {} : (resultInTurn ?? {}));
  if (content === undefined) return undefined;
  const words = contentText(content);
  if (isError === true) return { state: "error", errorCode: "execution_error", errorMessage: words };
  const blocks = asBlocks(content);
  return { state: "success", result: { value: words }, ...(blocks && { content: blocks }) };
}
