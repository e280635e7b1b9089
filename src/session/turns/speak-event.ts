import type { TurnEvent } from "../../turn/turn-event.ts";
import type { AnswerOutput } from "../answer/answer-output.ts";

/** Outputs only text blocks, because the text of a tool result is not the assistant's. */
export function speakEvent(event: TurnEvent, answer: Pick<AnswerOutput, "write" | "endSentence" | "flush">): void {
  switch (event.type) {
    case "block_delta":
      if (event.delta.type !== "text" || event.delta.text === "") return;
      answer.write(event.delta.text);
      if (event.delta.endsSentence) answer.endSentence();
      return;
    case "block_start":
      return answer.flush();
    default:
  }
}
