import { join } from "node:path";
import { type AgentSettings, BUILT_IN_TOOLS, CALL_TOOLS } from "../../agent/agent-fields.ts";
import { DEFAULT_AGENT } from "../../agent/load-agents.ts";
import { AppError } from "../../errors/app-error.ts";
import { didYouMean } from "../../lib/checks/did-you-mean.ts";
import { matchPattern } from "../../permission/match-pattern.ts";
import type { PermissionRule } from "../../permission/rule.ts";
import { TOOL_TYPE } from "../../tool/permission-need.ts";
import type { ServerTool } from "../../tool/server-tool.ts";
import type { Config } from "../config.ts";

type Named = Partial<Pick<AgentSettings, "tools" | "handoffs">>;
type Agents = ReadonlyMap<string, AgentSettings>;

interface Known {
  readonly config: Pick<Config, "agentsFolder"> & Named;
  readonly toolNames: Pick<ReadonlyMap<string, unknown>, "keys">;
  /** The prefixes of MCP servers' tools. The names of these tools are known only once the servers have listed them. */
  readonly prefixes: readonly string[];
}

/** @throws {AppError} `invalid_config` listing each tool and agent that an agent refers to but that does not exist */
export function checkAgents(agents: Agents, { config, toolNames, prefixes }: Known): void {
  const names = [...toolNames.keys(), ...BUILT_IN_TOOLS];
  const agentNames = [DEFAULT_AGENT, ...agents.keys()];
  const problemsOf = (own: string, { tools = [], handoffs = {} }: Named) => {
    const file = fileOf(own, config);
    const handingTo = (name: string) =>
      name === own
        ? "an agent cannot hand off to itself"
        : !agentNames.includes(name) && `there is no agent "${name}".${didYouMean(name, agentNames)}`;
    return [
      ...tools.flatMap((name, index) =>
        isGlob(name) || mayMatch(name, { names, prefixes })
          ? []
          : `${file}: tools.${index}: tool "${name}" does not exist or is turned off.${didYouMean(name, [...names, ...prefixes])}`,
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

interface Ruled {
  readonly tools?: readonly string[];
  /** Exists only in parley.config.ts. */
  readonly toolDetail?: Readonly<Record<string, unknown>>;
  readonly permission?: { readonly rules: readonly PermissionRule[] };
}

interface KnownTools {
  readonly config: Pick<Config, "agentsFolder"> & Ruled;
  readonly tools: ReadonlyMap<string, Pick<ServerTool, "permission">>;
  readonly prefixes: readonly string[];
}

/**
 * Returns a line for each glob in an agent's `tools`, each name in `toolDetail` and each permission rule that matches
 * no server tool. Such an entry is usually misspelled, and a misspelled rule denies nothing. Such an entry is not an
 * error, because clients announce their own tools, and a running tool may request any permission type.
 */
export function patternsWithoutTool(agents: Agents, { config, tools, prefixes }: KnownTools): string[] {
  const names = namesOf(tools);
  const types = [TOOL_TYPE, ...[...tools.values()].flatMap(({ permission }) => permission?.type ?? [])];
  const unmatchedProblem = (pattern: string) =>
    mayMatch(pattern, { names, prefixes })
      ? undefined
      : `no server tool matches "${pattern}".${didYouMean(pattern, [...names, ...prefixes])}`;
  const ruleProblem = ({ type, pattern }: Pick<PermissionRule, "type" | "pattern">) => {
    if (!types.some((each) => matchPattern(type, each)))
      return `no tool declares a permission of type "${type}".${didYouMean(type, types)}`;
    return type === TOOL_TYPE ? unmatchedProblem(pattern) : undefined;
  };
  return namedPatterns(agents, config).flatMap(({ place, pattern, type, isLenient }) => {
    // An unknown name in `tools` that is not a glob has already stopped the start (`checkAgents`).
    const problem =
      type !== undefined
        ? ruleProblem({ type, pattern })
        : isLenient || isGlob(pattern)
          ? unmatchedProblem(pattern)
          : undefined;
    return problem === undefined ? [] : `${place}: ${problem}`;
  });
}

/**
 * Checks the names, globs and permission rules that are meant for the tools of one MCP server. They are in agents'
 * `tools`, in `toolDetail` and in `permission.rules`. Returns a line for each that matches no tool. Call this once that
 * server has listed its tools.
 *
 * @param known.prefix the server's prefix; `prefixes` are those of all servers. `isLast` means that all servers have
 *   listed their tools, so patterns that may be meant for any of them are checked too
 */
export function patternsWithoutMcpTool(
  agents: Agents,
  { config, tools, prefix, prefixes, isLast }: KnownTools & { readonly prefix: string; readonly isLast: boolean },
): string[] {
  const names = namesOf(tools);
  return namedPatterns(agents, config).flatMap(({ place, pattern, type }) => {
    const head = headOf(pattern);
    // With two servers `crm` and `crm_eu`, a name that begins with `crm_eu_` is meant for `crm_eu`.
    const [longest] = prefixes
      .filter((each) => head.startsWith(each))
      .toSorted((one, other) => other.length - one.length);
    const isOfAny = isLast && longest === undefined && mayMatch(pattern, { names: [], prefixes });
    if (type !== undefined && type !== TOOL_TYPE) return [];
    if ((longest !== prefix && !isOfAny) || names.some((name) => matchPattern(pattern, name))) return [];
    if (isOfAny) return [`${place}: no server tool or MCP tool matches "${pattern}".${didYouMean(pattern, names)}`];
    const ofServer = names.filter((name) => name.startsWith(prefix));
    return `${place}: no tool of the MCP server matches "${pattern}".${didYouMean(pattern, ofServer)}`;
  });
}

function namesOf(tools: KnownTools["tools"]): string[] {
  return [...tools.keys(), ...BUILT_IN_TOOLS, ...CALL_TOOLS, "hand_off"];
}

interface NamedPattern {
  /** The file and the field that contain the pattern. */
  readonly place: string;
  readonly pattern: string;
  /** The type of a permission rule; absent in `tools` and `toolDetail`. */
  readonly type?: string;
  /** Set if a name that matches nothing only causes a warning. */
  readonly isLenient?: true;
}

function namedPatterns(agents: Agents, config: KnownTools["config"]): NamedPattern[] {
  const ruled: [string, Ruled][] = [[DEFAULT_AGENT, config], ...agents];
  return ruled.flatMap(([agent, { tools = [], permission, toolDetail = {} }]) => {
    const file = fileOf(agent, config);
    return [
      ...tools.map((pattern, index) => ({ place: `${file}: tools.${index}`, pattern })),
      ...Object.keys(toolDetail).map((pattern) => ({
        place: `${file}: toolDetail.${pattern}`,
        pattern,
        isLenient: true as const,
      })),
      ...(permission?.rules ?? []).map(({ type, pattern }, index) => ({
        place: `${file}: permission.rules.${index}`,
        pattern,
        type,
      })),
    ];
  });
}

/** Returns the part of a glob before its first special character. */
function headOf(pattern: string): string {
  return pattern.split(/[*?\\]/u)[0] ?? "";
}

function isGlob(name: string): boolean {
  return /[*?\\]/u.test(name);
}

function fileOf(agent: string, { agentsFolder }: Pick<Config, "agentsFolder">): string {
  return agent === DEFAULT_AGENT ? "parley.config.ts" : join(agentsFolder, `${agent}.ts`);
}

/** Whether a pattern matches one of the names, or may match a name that starts with one of the prefixes. */
function mayMatch(
  pattern: string,
  { names, prefixes }: { readonly names: readonly string[]; readonly prefixes: readonly string[] },
): boolean {
  const head = headOf(pattern);
  return (
    names.some((name) => matchPattern(pattern, name)) ||
    prefixes.some((prefix) => prefix.startsWith(head) || head.startsWith(prefix))
  );
}
