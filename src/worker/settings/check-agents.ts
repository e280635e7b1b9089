import { join } from "node:path";
import { type AgentSettings, BUILT_IN_TOOLS } from "../../agent/agent-fields.ts";
import { DEFAULT_AGENT } from "../../agent/load-agents.ts";
import { AppError } from "../../errors/app-error.ts";
import type { Config } from "../config.ts";

type Named = Partial<Pick<AgentSettings, "tools" | "handoffs">>;

interface Known {
  readonly config: Pick<Config, "agentsFolder"> & Named;
  readonly toolNames: { readonly has: (name: string) => boolean };
  /** Prefixes of MCP servers' tools, whose names are known only later. */
  readonly prefixes: readonly string[];
}

/** @throws {AppError} `invalid_config` with each tool and agent that an agent names and that does not exist */
export function checkAgents(agents: ReadonlyMap<string, AgentSettings>, { config, toolNames, prefixes }: Known): void {
  const isTool = (name: string) =>
    /[*?\\]/u.test(name) ||
    toolNames.has(name) ||
    BUILT_IN_TOOLS.includes(name) ||
    prefixes.some((prefix) => name.startsWith(prefix));
  const isAgent = (name: string) => name === DEFAULT_AGENT || agents.has(name);
  const problemsOf = (own: string, { tools = [], handoffs = {} }: Named) => {
    const file = own === DEFAULT_AGENT ? "parley.config.ts" : join(config.agentsFolder, `${own}.ts`);
    const handingTo = (name: string) =>
      name === own ? "an agent cannot hand over to itself" : !isAgent(name) && `there is no agent "${name}"`;
    return [
      ...tools.flatMap((name, index) =>
        isTool(name) ? [] : `${file}: tools.${index}: there is no tool "${name}", or it is off`,
      ),
      ...Object.keys(handoffs).flatMap((name) => {
        const why = handingTo(name);
        return why ? `${file}: handoffs.${name}: ${why}` : [];
      }),
    ];
  };
  const named: [string, Named][] = [[DEFAULT_AGENT, config], ...agents];
  const problems = named.flatMap(([name, agent]) => problemsOf(name, agent));
  if (problems.length > 0) throw new AppError("invalid_config", problems.join("\n"));
}
