import { MEMORY_TOOL, OUTCOME_TOOL, type TurnBlock } from "../conversation/block.ts";
import type { InputPart, TurnRecord } from "../conversation/turn-record.ts";
import { arrivalOf } from "../session/agent/greetings.ts";

/** The identity of a test's participant. */
export const TEST_IDENTITY = "tester";

/** Returns why a stored turn cannot be replayed in a test, or `undefined` if it can. */
export function unreplayableReason(turn: TurnRecord): string | undefined {
  if (turn.state !== "completed") return `it is ${turn.state}, and nothing says at which moment`;
  const isFirstGreeting = turn.position === 1 && isGreeting(turn);
  if (turn.parentMessageId === null && !isFirstGreeting) return "it began by itself";
  if (turn.input.some(({ type }) => type === "attachment")) return "files were attached to it";
  if (!isFirstGreeting && turn.input.some(namesParticipants)) return "several participants had part in the talk";
  if (turn.heard !== undefined) return "its speech was cut off";
  if (turn.blocks.some(isWorkerWritten)) return "the worker told the model something at its beginning";
  return undefined;
}

/** Whether the agent greeted the participant in this turn. In a test, the agent greets the participant, too. */
function isGreeting({ input: [part, ...rest], participantIdentity }: TurnRecord): boolean {
  return part?.type === "note" && rest.length === 0 && part.note.startsWith(arrivalOf(participantIdentity));
}

/** Returns a turn as a test replays it: the note that asks for a greeting names the test's participant. */
export function withTestIdentity(turn: TurnRecord): TurnRecord {
  const { participantIdentity: identity } = turn;
  const input = turn.input.map((part) =>
    part.type === "note"
      ? { ...part, note: part.note.replace(arrivalOf(identity), () => arrivalOf(TEST_IDENTITY)) }
      : part,
  );
  return isGreeting(turn) ? { ...turn, input } : turn;
}

/** Whether a part shows the model participants' names. A test has only one participant, with a different name. */
function namesParticipants(part: InputPart): boolean {
  return part.type === "note" || (part.type === "text" && part.from !== undefined);
}

/** Whether the worker wrote a block itself, to report memories or the outcome of an earlier call. */
function isWorkerWritten({ blockType, content }: TurnBlock): boolean {
  const name = content?.["tool_name"];
  return blockType === "tool_use" && (name === OUTCOME_TOOL || name === MEMORY_TOOL);
}

export interface ModelCall {
  /** The index of the call's first block in the turn. */
  readonly start: number;
  readonly blocks: TurnBlock[];
  /** When the model had finished each block, in milliseconds since the call began. */
  readonly writtenMs: number[];
}

/**
 * The longest wait for a block in a replay. In a replay, all of a block's events arrive together once the block is
 * complete, and an agent gives up on a model that sends nothing for 30 s.
 */
export const LONGEST_SILENCE_MS = 20_000;

/**
 * Returns a turn's model calls in order, each with its blocks. Tool results, which separate the calls, are omitted.
 * Fixed answers, such as some greetings, are not model calls.
 *
 * @param times when each block was stored, in milliseconds since the turn began. A block is stored when the model has
 *   finished it.
 */
export function modelCalls(
  { input, blocks }: Pick<TurnRecord, "input" | "blocks">,
  times: readonly number[],
): readonly ModelCall[] {
  if (input.some((part) => part.type === "note" && part.say !== undefined)) return [];
  const calls: ModelCall[] = [];
  for (const [index, block] of blocks.entries()) {
    if (block.blockType === "tool_result") continue;
    let call = calls.at(-1);
    if (!call || call.start + call.blocks.length !== index)
      calls.push((call = { start: index, blocks: [], writtenMs: [] }));
    const before = times[index - 1] ?? 0;
    const tookMs = Math.max(0, (times[index] ?? before) - before);
    call.blocks.push(block);
    call.writtenMs.push((call.writtenMs.at(-1) ?? 0) + Math.min(tookMs, LONGEST_SILENCE_MS));
  }
  return calls;
}
