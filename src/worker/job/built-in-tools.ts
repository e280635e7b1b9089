import type { MemoryStore } from "../../session/memory/memory-store.ts";
import { memoryTools } from "../../session/memory/memory-tools.ts";
import type { RecallStore } from "../../session/recall/recall-store.ts";
import { recallTool } from "../../session/recall/recall-tool.ts";
import type { ServerTool } from "../../tool/server-tool.ts";
import type { ConfigFileValues } from "../config-file.ts";

interface Stores {
  readonly recall: RecallStore;
  readonly memories: MemoryStore;
}

/**
 * Returns the tools that come with the worker, by name. A file in the tools folder replaces the tool of the same name.
 */
export function builtInTools(
  { recall: wanted, memory, context }: Pick<ConfigFileValues, "recall" | "memory" | "context">,
  { recall, memories }: Stores,
): ReadonlyMap<string, ServerTool> {
  // With `inlineTools`, the request's tool list must not be empty. If it were, the first tool added in a message would
  // cause a cache miss.
  const isAlwaysOffered = wanted || context.inlineTools;
  const tools = [recallTool(recall, { isAlwaysOffered }), ...(memory ? memoryTools(memories) : [])];
  return new Map(tools.map((tool) => [tool.name, tool]));
}
