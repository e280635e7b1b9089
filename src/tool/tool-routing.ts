import type { JsonObject } from "../lib/json.ts";
import type { InputSchema } from "./input-schema.ts";
import type { ServerTool } from "./server-tool.ts";
import { DEFAULT_PACING } from "./pacing.ts";

/** A tool that a participant announced in its Configuration. */
export interface AnnouncedTool {
  readonly name: string;
  readonly description: string;
  readonly input: InputSchema;
  readonly execution: "client" | "either";
  /** In whose turns the tool may be used: its owner's, or everybody's. */
  readonly scope: "own" | "room";
  readonly timeoutMs: number | undefined;
  readonly readOnly: boolean;
}

/** A participant that can be asked to run tools. `tools` is `undefined` while its list is unknown. */
export interface ToolHost {
  readonly identity: string;
  /** Whether its client claims the `either` calls that it runs (the feature `claims`). */
  readonly claims: boolean;
  readonly tools: ReadonlyMap<string, AnnouncedTool> | undefined;
}

/** A host as the turns of one participant see it. */
export interface TurnHost extends ToolHost {
  /** Whether it is the participant whose turn it is. */
  readonly isOwn: boolean;
}

/**
 * The hosts that calls of this participant's turns may go to: first the participant itself, with all that it announced,
 * then the others, with what they announced for the room. A host whose list is unknown is asked in its own turns only.
 */
export function hostsFor(participant: string, hosts: readonly ToolHost[]): TurnHost[] {
  const isOwn = ({ identity }: ToolHost) => identity === participant;
  const own = hosts.filter(isOwn).map(({ identity, claims, tools }) => ({ identity, claims, tools, isOwn: true }));
  const others = hosts.filter((host) => !isOwn(host));
  const shared = others.map(({ identity, claims, tools = new Map<string, AnnouncedTool>() }) => {
    const forRoom = new Map([...tools].filter(([, { scope }]) => scope === "room"));
    return { identity, claims, tools: forRoom, isOwn: false };
  });
  return [...own, ...shared];
}

/**
 * The hosts that may run a tool. What the worker declares by a name, no other participant may serve by announcing that name:
 * the model and the turn's participant take it for the worker's. A tool of the scope `room` is meant for all devices.
 */
function hostsOf({ scope }: Pick<FoundTool, "scope">, hosts: readonly TurnHost[]): readonly TurnHost[] {
  return scope === "room" ? hosts : hosts.filter(({ isOwn }) => isOwn);
}

/** A tool as the model is shown it. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The participant that announced it; absent for the worker's own tools and for MCP servers'. */
  readonly owner?: string;
  /** Whether it comes and goes with a client or an MCP server. @defaultValue false */
  readonly mayGo?: boolean;
}

/** Everything that is needed to run a tool, wherever it was declared. */
export type FoundTool = Omit<ServerTool, "description" | "isAway" | "isForCutTalks" | "endTurn">;

/**
 * Where a call goes. `unannounced`: an `either` call goes to a client that may have the tool, for its list is unknown.
 * A client that `claims` first says that it takes the call; any other has all of the call's time to answer.
 */
export type Route =
  | { readonly to: "server" }
  | { readonly to: "client"; readonly identity: string }
  | { readonly to: "unannounced"; readonly identity: string; readonly claims: boolean }
  | { readonly to: "nobody" };

type ServerTools = ReadonlyMap<string, ServerTool>;

/**
 * The tools that can be reached now, sorted by name so that the prompt cache keeps its prefix.
 *
 * @param talk.isCut whether the model is not shown the whole talk
 */
export function offeredTools(
  serverTools: ServerTools,
  hosts: readonly TurnHost[],
  { isCut }: { readonly isCut: boolean },
): OfferedTool[] {
  const offered = new Map<string, OfferedTool>();
  for (const tool of serverTools.values()) {
    if (tool.isAway?.() || (tool.isForCutTalks && !isCut)) continue;
    if (tool.execution === "client" && routeCall(tool, hosts).to === "nobody") continue;
    const { name, description, input } = tool;
    const mayGo = tool.execution === "client" || tool.isAway !== undefined;
    offered.set(name, { name, description, inputSchema: input.jsonSchema, ...(mayGo && { mayGo }) });
  }
  for (const host of hosts) {
    for (const tool of host.tools?.values() ?? []) {
      if (serverTools.has(tool.name) || offered.has(tool.name)) continue;
      offered.set(tool.name, {
        name: tool.name,
        description: describeAnnounced(host.identity, tool.description),
        inputSchema: tool.input.jsonSchema,
        owner: host.identity,
        mayGo: true,
      });
    }
  }
  return [...offered.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The server tool of this name, else the announced tool of the first host that has one: the turn's own comes first. */
export function findTool(name: string, serverTools: ServerTools, hosts: readonly TurnHost[]): FoundTool | undefined {
  const own = serverTools.get(name);
  if (own) return own;
  const announced = hosts.find((host) => host.tools?.has(name))?.tools?.get(name);
  if (!announced) return undefined;
  const { readOnly } = announced;
  const onInterrupt = readOnly ? "cancel" : "finish";
  // Any of the hosts may run it: `hostsFor` has left out what others announced for themselves alone.
  return { ...announced, scope: "room", idempotent: readOnly, onInterrupt, pacing: DEFAULT_PACING };
}

export function routeCall(tool: FoundTool, all: readonly TurnHost[]): Route {
  if (tool.execution === "server") return { to: "server" };
  const hosts = hostsOf(tool, all);
  const able = hosts.find((host) => host.tools?.has(tool.name));
  if (able) return { to: "client", identity: able.identity };
  const unknown = hosts.find((host) => host.tools === undefined);
  if (tool.execution === "either" && tool.run)
    return unknown ? { to: "unannounced", identity: unknown.identity, claims: unknown.claims } : { to: "server" };
  return unknown ? { to: "client", identity: unknown.identity } : { to: "nobody" };
}

/** The participant wrote the text, so the model gets it as a quotation. */
function describeAnnounced(identity: string, description: string): string {
  const owner = JSON.stringify(identity);
  return `Runs on the device of participant ${owner}, which describes it as: ${JSON.stringify(description)}`;
}
