import { z } from "zod";
import type { StoredResult } from "../../store/recall/find-result.ts";
import type { FoundPiece, RecordSearch } from "../../store/recall/search-record.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { resultText } from "../../tool/outcome.ts";
import { toServerTool, type ServerTool } from "../../tool/server-tool.ts";
import type { RecallStore } from "./recall-store.ts";

export const RECALL_TOOL = "recall";
const MAX_TURNS = 20;
/** How much of a result is returned at once. */
const MAX_CHARACTERS = 20_000;

const time = z.iso.datetime({ offset: true, error: "expected a time as 2026-11-22T16:00:00Z" });

const input = z.strictObject({
  words: z.string().max(500).optional().describe("Words that all occur in one turn; each also finds longer words"),
  speaker: z
    .string()
    .max(200)
    .optional()
    .describe('Whose words: "agent" for your own, "tool" for what tools were asked and answered, or an identity'),
  tool: z.string().max(200).optional().describe("Only uses and results of the tool of this name"),
  from: time.optional().describe("Only turns that began at this time or later"),
  to: time.optional().describe("Only turns that began at this time or earlier"),
  limit: z.int().min(1).max(MAX_TURNS).default(10).describe("How many turns, newest first"),
  id: z.string().max(200).optional().describe("Instead of a search: gives back the result of this call or tool use"),
  offset: z.int().min(0).default(0).describe("With id: the character to begin at"),
});

type Search = Omit<z.output<typeof input>, "id" | "offset">;

interface RecallOptions {
  /** Whether the tool is offered from the start. If not, it is offered once turns have left the context window. */
  readonly isAlwaysOffered: boolean;
}

/**
 * The built-in tool `recall`. It searches the conversation that the call belongs to and returns tool results stored
 * there. It cannot reach any other conversation.
 */
export function recallTool(store: RecallStore, { isAlwaysOffered }: RecallOptions): ServerTool {
  const tool = defineTool({
    description:
      "Searches the record of this conversation, also what you are no longer shown, and gives back stored results " +
      "of tools. Use it when something was said or found earlier that you do not see, and for [result of …] notes.",
    input,
    readOnly: true,
    timeoutMs: 10_000,
    run: async ({ id, offset, ...search }, { callId }) =>
      id === undefined
        ? toAnswer(await store.search(callId, toSearch(search)))
        : readOn(await store.findResult(callId, id), offset),
  });
  return { ...toServerTool(RECALL_TOOL, tool, undefined), isForCutTalks: !isAlwaysOffered };
}

function toSearch({ words = "", speaker, tool, from, to, limit }: Search): Omit<RecordSearch, "sessionId"> {
  return {
    words: words.split(/\s+/).filter(Boolean),
    speaker: speaker === "agent" || speaker === "tool" || speaker === undefined ? speaker : { participant: speaker },
    tool,
    from: from === undefined ? undefined : Date.parse(from),
    to: to === undefined ? undefined : Date.parse(to),
    limit,
  };
}

function toAnswer(found: readonly FoundPiece[] | undefined) {
  if (!found) throw new Error("words: expected letters or digits");
  if (found.length > 0) return { found: found.map(shown) };
  return { found: [], note: "No earlier turn fits. Try fewer or other words, or leave out a condition." };
}

function shown({ turn, at, speaker, participant, toolName, toolUseId, excerpt }: FoundPiece) {
  return {
    turn,
    at: new Date(at).toISOString(),
    speaker: speaker === "participant" ? participant : speaker,
    ...(toolName !== null && { tool: toolName }),
    ...(toolUseId !== null && { id: toolUseId }),
    text: excerpt,
  };
}

function readOn(stored: StoredResult | undefined, offset: number) {
  if (!stored) throw new Error("id: this conversation has no call or tool use with this id, or it has no result yet");
  const { toolUseId: id, toolName: tool, at, state, result, errorMessage, told } = stored;
  const whole = result === null ? (errorMessage ?? told ?? "") : resultText(result);
  const end = Math.min(offset + MAX_CHARACTERS, whole.length);
  return {
    id,
    ...(tool !== null && { tool }),
    at: new Date(at).toISOString(),
    ...(state !== null && { state }),
    text: whole.slice(offset, end).toWellFormed(),
    characters: whole.length,
    ...(end < whole.length && { nextOffset: end }),
  };
}
