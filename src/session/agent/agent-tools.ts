import type { ServerTool } from "../../tool/server-tool.ts";

type ServerTools = ReadonlyMap<string, ServerTool>;

interface AgentToolsOptions {
  /** All server tools of the session. The map changes when tools are loaded or removed. */
  readonly all: ServerTools;
  /** Whether the current agent may use a tool in `all`. */
  readonly mayUse: (toolName: string) => boolean;
  /** The current agent's own tools. A tool in `all` replaces an own tool of the same name. */
  readonly own: () => ServerTools;
}

/** The tools of the session's current agent. Not a snapshot: every read reflects the current agent and tools. */
export class AgentTools implements ServerTools {
  readonly #options: AgentToolsOptions;

  constructor(options: AgentToolsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#now().size;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  get(name: string): ServerTool | undefined {
    const { all, mayUse, own } = this.#options;
    return (mayUse(name) ? all.get(name) : undefined) ?? own().get(name);
  }

  keys(): MapIterator<string> {
    return this.#now().keys();
  }

  values(): MapIterator<ServerTool> {
    return this.#now().values();
  }

  entries(): MapIterator<[string, ServerTool]> {
    return this.#now().entries();
  }

  [Symbol.iterator](): MapIterator<[string, ServerTool]> {
    return this.entries();
  }

  forEach(act: (tool: ServerTool, name: string, tools: ServerTools) => void): void {
    for (const [name, tool] of this.#now()) act(tool, name, this);
  }

  #now(): Map<string, ServerTool> {
    const { all, mayUse, own } = this.#options;
    return new Map([...own(), ...[...all].filter(([name]) => mayUse(name))]);
  }
}
