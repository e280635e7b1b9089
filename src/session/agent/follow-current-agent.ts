import type { LiveTools, ServerTool } from "../../tool/server-tool.ts";
import type { SessionPolicy } from "../session-policy.ts";
import { AgentTools } from "./agent-tools.ts";
import type { CallEnd, CallLine } from "./call-end.ts";
import { CALL_RULE, callTools } from "./call-tools.ts";
import { createHandOffTool } from "./hand-off.ts";
import type { ServedAgent } from "./served-agent.ts";
import type { SessionAgents } from "./session-agents.ts";

interface AgentParts {
  readonly policy: SessionPolicy;
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  readonly liveTools?: LiveTools | undefined;
  readonly agents?: SessionAgents | undefined;
}

interface Ports {
  readonly line: CallLine | undefined;
  readonly callEnd: CallEnd | undefined;
  /** Sets the language of the answers to this participant, on this worker and later ones. */
  readonly setLanguage: (identity: string, language: string) => Promise<void>;
  /** Stores which agent serves the session from now on. */
  readonly storeAgent: (agent: string) => Promise<unknown>;
  /** Replaces all finished turns in the context window with this summary. */
  readonly replaceWithSummary: (summary: string) => void;
}

/** Returns a policy and tools that always reflect the session's current agent. */
export function followCurrentAgent({ agents, ...parts }: AgentParts, ports: Ports): Omit<AgentParts, "agents"> {
  if (!agents) return parts;
  const { policy, serverTools, liveTools } = parts;
  const { permission } = policy;
  const made = new WeakMap<ServedAgent, ReadonlyMap<string, ServerTool>>();
  const own = () => {
    const { current } = agents;
    const tools = made.get(current) ?? ownTools(current, agents, ports);
    made.set(current, tools);
    return tools;
  };
  return {
    policy: {
      ...policy,
      permission: {
        ...permission,
        get rules() {
          return [CALL_RULE, ...permission.rules, ...agents.current.permission.rules];
        },
      },
    },
    serverTools: new AgentTools({ all: serverTools, own, mayUse: (name) => agents.current.mayUse(name) }),
    liveTools: {
      prefixes: liveTools?.prefixes ?? [],
      onChanged: (listener) => {
        const stops = [liveTools?.onChanged(listener), agents.onChanged(listener)];
        return () => stops.forEach((stop) => stop?.());
      },
    },
  };
}

function ownTools(agent: ServedAgent, agents: SessionAgents, ports: Ports): ReadonlyMap<string, ServerTool> {
  const { line, callEnd: end, setLanguage, storeAgent, replaceWithSummary } = ports;
  const switchAgent = async (name: string) => {
    // The agent's file may have been removed, or may not be saved yet.
    if (!agents.has(name)) throw new Error(`No agent is named "${name}"; you are still the current agent`);
    await storeAgent(name);
    await agents.handOff(name);
  };
  const handOffTool = createHandOffTool(agent, { switchAgent, replaceWithSummary });
  const tools = [
    ...(line && end ? callTools(agent, { line, end, setLanguage }) : []),
    ...(handOffTool ? [handOffTool] : []),
  ];
  return new Map(tools.map((tool) => [tool.name, tool]));
}
