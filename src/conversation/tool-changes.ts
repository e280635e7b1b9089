import canonicalize from "canonicalize";
import type { JsonObject } from "../lib/json.ts";
import type { TurnBlock } from "./block.ts";
import { sizeOfChange } from "./shown-context.ts";
import type { ClientToolDefinition, ToolChange, TurnRecord } from "./turn-record.ts";

type AnnouncementBlock = Omit<TurnBlock, "sequence">;

/**
 * The client and MCP tools that the model knows at some point of the conversation. When turns are omitted, their tool
 * changes are omitted, too, so a later change may remove a tool that the model was never shown. Such a removal is left
 * out of the history.
 */
export class KnownTools {
  /** Each tool's newest definition in the context window, even if the tool has been removed since. */
  #defined = new Map<string, ClientToolDefinition>();
  #offered = new Set<string>();

  copy(): KnownTools {
    const copy = new KnownTools();
    copy.#defined = new Map(this.#defined);
    copy.#offered = new Set(this.#offered);
    return copy;
  }

  /** Returns the tools that the model knows after these turns. */
  static after(turns: readonly TurnRecord[]): KnownTools {
    const known = new KnownTools();
    for (const { context } of turns) for (const change of context?.tools ?? []) known.apply(change);
    return known;
  }

  /** Applies a change and returns the blocks that announce it, in the API's form. */
  apply({ added, removed }: Pick<ToolChange, "added" | "removed">): AnnouncementBlock[] {
    const gone = removed.filter((name) => this.#offered.delete(name));
    const blocks = gone.map((name) => announcementBlock("tool_removal", referenceTo(name)));
    for (const tool of added) {
      const isDefined = isSame(this.#defined.get(tool.name), tool);
      if (isDefined && this.#offered.has(tool.name)) continue;
      this.#defined.set(tool.name, tool);
      this.#offered.add(tool.name);
      blocks.push(announcementBlock("tool_addition", isDefined ? referenceTo(tool.name) : definitionOf(tool)));
    }
    return blocks;
  }

  /** The size in bytes of a single change that announces all tools that the model knows. */
  get bytes(): number {
    const added = [...this.#offered].flatMap((name) => this.#defined.get(name) ?? []);
    return sizeOfChange({ added, removed: [] });
  }

  /** Returns the change after which the model knows exactly these tools, or `undefined` if it already does. */
  changeTo(tools: readonly ClientToolDefinition[], before: number): ToolChange | undefined {
    const names = new Set(tools.map(({ name }) => name));
    const isKnown = (tool: ClientToolDefinition) =>
      this.#offered.has(tool.name) && isSame(this.#defined.get(tool.name), tool);
    const added = tools.filter((tool) => !isKnown(tool));
    const removed = [...this.#offered].filter((name) => !names.has(name));
    return added.length + removed.length > 0 ? { before, added, removed } : undefined;
  }
}

/** Returns the name of the tool that a system message's block announces. */
export function announcedToolName({ content }: AnnouncementBlock): string | undefined {
  const { tool } = (content ?? {}) as { tool?: { name?: string; definition?: { name?: string } } };
  return tool?.name ?? tool?.definition?.name;
}

function announcementBlock(type: "tool_addition" | "tool_removal", tool: JsonObject): AnnouncementBlock {
  return { blockType: type, textContent: null, content: { type, tool } };
}

function referenceTo(name: string): JsonObject {
  return { type: "tool_reference", name };
}

function definitionOf({ name, description, inputSchema }: ClientToolDefinition): JsonObject {
  return { type: "tool_definition", definition: { name, description, input_schema: inputSchema } };
}

/**
 * Whether two definitions are equal. Compares their canonical JSON, because JSONB does not preserve the order of keys.
 */
function isSame(a: ClientToolDefinition | undefined, b: ClientToolDefinition): boolean {
  return a !== undefined && canonicalize(a) === canonicalize(b);
}
