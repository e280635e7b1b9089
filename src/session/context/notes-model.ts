import { textBlock } from "../../conversation/history.ts";
import { buildRequest } from "../../llm/build-request.ts";
import type { Model } from "../../llm/stream-message.ts";
import { NOTES_INSTRUCTIONS, type NotesModel } from "./summariser.ts";

const MAX_TOKENS = 2_000;

/** The model of this name, asked for notes: without tools and thinking, and without the talk's own instructions. */
export function createNotesModel(model: Model, name: string): NotesModel {
  return {
    name,
    ask: (prompt, _participant, signal) => {
      const messages = [{ role: "user" as const, blocks: [textBlock(prompt)] }];
      const request = buildRequest({ model: name, maxTokens: MAX_TOKENS, system: NOTES_INSTRUCTIONS, messages });
      return model.stream(request, signal);
    },
  };
}
