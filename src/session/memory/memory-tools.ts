import { z } from "zod";
import { MAX_MEMORIES } from "../../store/memory/memories.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { type ServerTool, toServerTool } from "../../tool/server-tool.ts";
import type { MemoryStore } from "./memory-store.ts";

const MAX_CHARACTERS = 500;

/** The built-in tools `remember` and `forget`. They act only on the memories of the turn's participant. */
export function memoryTools(store: MemoryStore): readonly ServerTool[] {
  const remember = defineTool({
    description:
      "Remembers something about this participant for later talks, in any room. Use it only for what the participant " +
      "asks you to remember, in one short sentence.",
    input: z.strictObject({ text: z.string().trim().min(1).max(MAX_CHARACTERS) }),
    idempotent: true,
    timeoutMs: 10_000,
    run: async ({ text }, { participant: identity }) => {
      const id = await store.add(identity, text);
      if (id !== undefined) return { id };
      throw new Error(`This participant already has ${MAX_MEMORIES} memories, which is the limit: forget one first`);
    },
  });
  const forget = defineTool({
    description:
      "Forgets what was remembered of this participant: one thing by its id, or everything. Use it when the participant " +
      "asks for it.",
    input: z.strictObject({
      id: z.string().max(100).optional().describe("What remember gave, or a list of what is remembered"),
      everything: z.literal(true).optional().describe("Forgets all that is remembered of this participant"),
    }),
    idempotent: true,
    timeoutMs: 10_000,
    run: async ({ id, everything }, { participant: identity }) => {
      if ((id === undefined) === (everything === undefined)) throw new Error("Expected an id, or everything: true");
      const forgotten = await store.delete(identity, id);
      if (forgotten === 0 && id !== undefined) throw new Error("id: this participant has no memory with this id");
      return { forgotten };
    },
  });
  return [toServerTool("remember", remember, undefined), toServerTool("forget", forget, undefined)];
}
