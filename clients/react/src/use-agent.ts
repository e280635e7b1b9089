import { useTalkClient } from "./parley-provider.tsx";
import { useWatched } from "./use-watched.ts";

interface AgentTool {
  readonly name: string;
  readonly description: string;
  /** The MCP server that provides the tool. Absent for a tool of the worker itself. */
  readonly mcpServer?: string;
}

interface AgentProfile {
  /** `undefined` until the worker has announced its agent. */
  readonly name: string | undefined;
  /** One sentence for people, if the agent has one. */
  readonly description: string | undefined;
  /** What people can say first. */
  readonly suggestions: readonly string[];
  /** The worker's tools that the agent may use. Tools of devices are not included. */
  readonly tools: readonly AgentTool[];
}

/** Returns what the worker has announced about the session's agent. */
export function useAgent(): AgentProfile {
  const client = useTalkClient();
  const { agent, tools = [] } = useWatched(client.subscribe, () => client.worker);
  return {
    name: agent?.name,
    description: agent?.description,
    suggestions: agent?.suggestions ?? [],
    tools: tools.map(({ name, description, annotations }) => {
      const mcpServer = annotations?.["mcpServer"];
      return { name, description, ...(typeof mcpServer === "string" && { mcpServer }) };
    }),
  };
}
