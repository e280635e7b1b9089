import { toolResultBlock } from "../conversation/block.ts";
import { createId } from "../lib/id.ts";
import { type Call } from "../tool/call.ts";
import { type ModelAnswer } from "../tool/outcome.ts";
import { type NewTurn } from "./turn-queue.ts";

/** The tool use that stands in the history for the arrival of an outcome. No tool has the name, so it is never run. */
const OUTCOME_TOOL = "call_outcome";

/**
 * The turn in which the model hears how a call ended that it was told is still running. The outcome is the tool's data,
 * so it reaches the model in a tool_result, as any other: as the answer to a tool use that asks for it.
 */
export function toOutcomeTurn({ participant, toolName, toolUseId }: Call, answer: ModelAnswer): NewTurn {
  const id = `toolu_${createId()}`;
  const use = { tool_use_id: id, tool_name: OUTCOME_TOOL, input: { tool_use_id: toolUseId } };
  const note = `[The call of ${toolName} (${toolUseId}) that was still running has ended. Its outcome follows.]`;
  return {
    participant,
    messageId: null,
    input: [{ type: "text", text: note }],
    opening: [
      { sequence: 0, blockType: "tool_use", textContent: null, content: use },
      { sequence: 1, ...toolResultBlock(id, answer) },
    ],
  };
}
