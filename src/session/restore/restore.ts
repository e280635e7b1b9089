import { parentCallId, endedCall, type Call, type Outcome } from "../../conversation/call.ts";
import { asBlocks, contentText } from "../../conversation/content.ts";
import { danglingUses, toolUseId } from "../../conversation/block.ts";
import {
  loadCallsOfTurn,
  loadForms,
  loadUnsettledCalls,
  markReported,
  saveCall,
  type UnsettledCall,
} from "../../store/calls.ts";
import type { SessionWriter } from "../../store/sessions/session-writer.ts";
import { loadLastPosition, loadMessageIds } from "../../store/turns/find-turns.ts";
import { loadRunningTurns, loadUnspokenTurn } from "../../store/turns/load-turns.ts";
import { loadWaitingMessages, type WaitingMessage } from "../../store/turns/waiting-messages.ts";
import { isReceipt } from "../../tool/outcome.ts";
import type { Window } from "../../turn/context-window.ts";
import { KNOWN_MESSAGES } from "../inbox/user-input.ts";
import type { ConversationArchive } from "../record/conversation-archive.ts";
import type { UnfinishedTurn } from "../turns/turn-queue.ts";
import { outcomeOfInherited, repairTurn } from "./repair-turn.ts";

/**
 * How old an unfinished turn or a queued message may be. Older ones are not resumed, because nobody waits for the
 * answer any longer.
 */
const RESUMABLE_MS = 10 * 60_000;

export interface Restored {
  /** The context window that the next turn continues from. */
  readonly window: Window;
  /** The position of the newest ended turn, including replaced ones; 0 if there are no turns. */
  readonly lastPosition: number;
  /** The ids of the newest user messages that began turns, oldest first. */
  readonly messageIds: readonly string[];
  readonly unfinished: UnfinishedTurn | undefined;
  /** Queued messages that have no turn yet. */
  readonly waiting: readonly WaitingMessage[];
  /** Calls whose outcome the model was promised, whether or not they have ended. */
  readonly promised: readonly Call[];
  /** The forms of calls that may continue, answered or not. */
  readonly forms: readonly Call[];
}

interface RestoreOptions {
  readonly archive: ConversationArchive;
  /** Size limit of a result that the model sees. */
  readonly resultMaxBytes: number;
}

/**
 * Loads the state that a session resumes from: the context window and everything unfinished. The size of this state
 * does not grow with the conversation. If the last turn was still running or being spoken, it may be resumed; any other
 * unfinished turn is ended.
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
  const { promised, resumedIds } = await settleCalls(writer, unfinished);
  const forms = await loadForms(sql, { sessionId: lease.sessionId, callIds: resumedIds });
  const waiting = await loadWaitingMessages(writer, { withinMs: RESUMABLE_MS });
  const lastPosition = unfinished ? newest - 1 : newest;
  return { window, lastPosition, messageIds, unfinished, waiting, promised, forms };
}

/** Ends the open turns and calls of a session that is not continued. Queued messages are dropped. */
export async function endOpen(
  writer: SessionWriter,
  { resultMaxBytes }: Pick<RestoreOptions, "resultMaxBytes">,
): Promise<void> {
  const { sql, lease } = writer;
  for (const turn of await loadRunningTurns(sql, lease)) await repairTurn(writer, turn, resultMaxBytes);
  for (const unsettled of await loadUnsettledCalls(sql, lease))
    if (!unsettled.call.outcome) await endInheritedCall(writer, unsettled);
  await loadWaitingMessages(writer, { withinMs: 0 });
}

interface Settled {
  /** Calls whose outcome the model was promised. */
  readonly promised: readonly Call[];
  /** The ids of all calls that are not ended here, because they are resumed. */
  readonly resumedIds: readonly string[];
}

/**
 * Finds the calls that continue, and ends those that nobody waits for any longer. A form is treated like the call that
 * asked for it. A tool result and the end of its call are stored separately. If a worker died between the two writes,
 * the call ends with the result that the model received.
 */
async function settleCalls(writer: SessionWriter, unfinished: UnfinishedTurn | undefined): Promise<Settled> {
  const taken = new Set(danglingUses(unfinished?.turn.blocks ?? []).map(toolUseId));
  const isTaken = (call: Call) => taken.has(call.toolUseId) && call.turnId === unfinished?.turn.id;
  const unsettledCalls = await loadUnsettledCalls(writer.sql, writer.lease);
  const promised = unsettledCalls
    .filter(({ resultInTurn, lateResult, isReplaced }) => isPromise(resultInTurn) && !lateResult && !isReplaced)
    .map(({ call }) => call);
  const resumedIds = unsettledCalls.flatMap(({ call }) => (promised.includes(call) || isTaken(call) ? call.id : []));
  const known: string[] = [];
  for (const unsettled of unsettledCalls) {
    const { call } = unsettled;
    if (resumedIds.includes(parentCallId(call) ?? call.id)) continue;
    if (call.outcome) known.push(call.id);
    else await endInheritedCall(writer, unsettled);
  }
  await markReported(writer, { callIds: known });
  return { promised, resumedIds };
}

/** Ends a call with the outcome that the model received, or with an error if there is none. */
async function endInheritedCall(writer: SessionWriter, unsettled: UnsettledCall): Promise<void> {
  const { call } = unsettled;
  await saveCall(writer, endedCall(call, reportedOutcome(unsettled) ?? outcomeOfInherited(call)));
}

function isPromise(result: UnsettledCall["resultInTurn"]): boolean {
  return isReceipt(result?.["content"]);
}

/** Returns the outcome that the model received, or `undefined` if it was only promised one. */
function reportedOutcome({ resultInTurn, lateResult }: UnsettledCall): Outcome | undefined {
  const { content, is_error: isError = false } = lateResult ?? (isPromise(resultInTurn) ? {} : (resultInTurn ?? {}));
  if (content === undefined) return undefined;
  const words = contentText(content);
  if (isError === true) return { state: "error", errorCode: "execution_error", errorMessage: words };
  const blocks = asBlocks(content);
  return { state: "success", result: { value: words }, ...(blocks && { content: blocks }) };
}
