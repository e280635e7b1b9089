import { join } from "node:path";
import { type AgentSettings, BUILT_IN_TOOLS, CALL_TOOLS } from "../../agent/agent-fields.ts";
import { DEFAULT_AGENT } from "../../agent/load-agents.ts";
import { AppError } from "../../errors/app-error.ts";
import { didYouMean, nearestName } from "../../lib/checks/did-you-mean.ts";
import { matchPattern } from "../../permission/match-pattern.ts";
import type { PermissionRule } from "../../permission/rule.ts";
import { TOOL_TYPE } from "../../tool/permission-need.ts";
import type { ServerTool } from "../../tool/server-tool.ts";
import type { Config } from "../config.ts";

type Agents = ReadonlyMap<string, AgentSettings>;

/** What parley.config.ts and the agents have in common. */
interface Referring extends Partial<Pick<AgentSettings, "tools" | "handoffs">> {
  /** Exists only in parley.config.ts. */
  readonly toolDetail?: Readonly<Record<string, unknown>>;
  readonly permission?: { readonly rules: readonly PermissionRule[] };
}

interface KnownTools {
  readonly config: Pick<Config, "agentsFolder"> & Referring;
  readonly tools: ReadonlyMap<string, Pick<ServerTool, "permission">>;
  /** The names of all tools in the folder, including those that are turned off. @defaultValue only those in `tools` */
  readonly namesInFolder?: readonly string[];
  /** The prefixes of MCP servers' tools. The names of these tools are known only once the servers have listed them. */
  readonly prefixes: readonly string[];
}

/**
 * @throws {AppError} `invalid_config` listing each tool and agent that an agent refers to but that does not exist, and
 *   each entry of `permission.rules` and `toolDetail` that restricts nothing because it is misspelled
 */
export function checkAgents(agents: Agents, known: KnownTools): void {
  const { config, tools, prefixes } = known;
  const names = [...tools.keys(), ...BUILT_IN_TOOLS];
  const agentNames = [DEFAULT_AGENT, ...agents.keys()];
  const problemsOf = (own: string, { tools: listed = [], handoffs = {} }: Referring) => {
    const file = fileOf(own, config);
    const handingTo = (name: string) =>
      name === own
        ? "an agent cannot hand off to itself"
        : !agentNames.includes(name) && `there is no agent "${name}".${didYouMean(name, agentNames)}`;
    return [
      ...listed.flatMap((name, index) =>
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
  const referring: [string, Referring][] = [[DEFAULT_AGENT, config], ...agents];
  const problems = [
    ...referring.flatMap(([name, agent]) => problemsOf(name, agent)),
    ...unmatchedPatterns(agents, known).flatMap(({ line, isHole }) =>
      isHole
        ? `${line} If it is meant for a client's tool, define that tool in the tools folder, with execution: "client".`
        : [],
    ),
  ];
  if (problems.length > 0) throw new AppError("invalid_config", problems.join("\n"));
}

/**
 * Returns a line for each glob in an agent's `tools`, each name in `toolDetail` and each permission rule that matches
 * no server tool, except for those that `checkAgents` refuses. These are not errors, because clients announce their own
 * tools, and a running tool may request any permission type.
 */
export function patternsWithoutTool(agents: Agents, known: KnownTools): string[] {
  return unmatchedPatterns(agents, known).flatMap(({ line, isHole }) => (isHole ? [] : line));
}

interface UnmatchedPattern {
  readonly line: string;
  /** Whether the pattern is meant to restrict a tool, and is misspelled, so that the tool is not restricted. */
  readonly isHole: boolean;
}

function unmatchedPatterns(
  agents: Agents,
  { config, tools, namesInFolder = [], prefixes }: KnownTools,
): UnmatchedPattern[] {
  const names = [...namesOf(tools), ...namesInFolder];
  const types = [TOOL_TYPE, ...[...tools.values()].flatMap(({ permission }) => permission?.type ?? [])];
  const problemOf = ({ pattern, type = TOOL_TYPE }: NamedPattern) => {
    if (!types.some((each) => matchPattern(type, each)))
      return { why: `no tool declares a permission of type "${type}".`, text: type, among: types };
    if (type !== TOOL_TYPE || mayMatch(pattern, { names, prefixes })) return undefined;
    return { why: `no server tool matches "${pattern}".`, text: pattern, among: namesLike(pattern, names, prefixes) };
  };
  return namedPatterns(agents, config).flatMap((named) => {
    // An unknown name in `tools` that is not a glob is refused in any case.
    const problem = named.isOfTools && !isGlob(named.pattern) ? undefined : problemOf(named);
    if (!problem) return [];
    const { why, text, among } = problem;
    const line = `${named.place}: ${why}${didYouMean(text, among)}`;
    return { line, isHole: named.restricts && isMisspelled(text, among) };
  });
}

/**
 * Whether a name was probably meant to be one of `known`. A name with another first letter rarely is: a rule for
 * clients' `set_*` does not mean the server's `get_*`.
 */
function isMisspelled(name: string, known: readonly string[]): boolean {
  const firstLetter = (text: string) => /[\p{L}\p{N}]/u.exec(text)?.[0].toLowerCase();
  const meant = nearestName(name, known);
  return meant !== undefined && firstLetter(meant) === firstLetter(name);
}

/** Returns what a pattern may have been meant to be. For a glob, this includes globs: `get_*` and `*_time` of `get_time`. */
function namesLike(pattern: string, names: readonly string[], prefixes: readonly string[]): string[] {
  if (!isGlob(pattern)) return [...names, ...prefixes];
  const globs = names.flatMap((name) => {
    const [first, ...others] = name.split("_");
    return others.length === 0 ? [] : [`${first}_*`, `*_${others.at(-1)}`];
  });
  return [...names, ...globs, ...prefixes.map((prefix) => `${prefix}*`)];
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
  readonly isOfTools: boolean;
  /** Whether the entry is there to prevent something. */
  readonly restricts: boolean;
}

function namedPatterns(agents: Agents, config: KnownTools["config"]): NamedPattern[] {
  const referring: [string, Referring][] = [[DEFAULT_AGENT, config], ...agents];
  return referring.flatMap(([agent, { tools = [], permission, toolDetail = {} }]) => {
    const file = fileOf(agent, config);
    const isOfTools = false;
    return [
      ...tools.map((pattern, index) => {
        return { place: `${file}: tools.${index}`, pattern, isOfTools: true, restricts: false };
      }),
      ...Object.entries(toolDetail).map(([pattern, detail]) => {
        return { place: `${file}: toolDetail.${pattern}`, pattern, isOfTools, restricts: detail !== "full" };
      }),
      ...(permission?.rules ?? []).map(({ type, pattern, action }, index) => {
        const place = `${file}: permission.rules.${index}`;
        return { place, pattern, type, isOfTools, restricts: action !== "allow" };
      }),
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
