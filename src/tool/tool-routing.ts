import type { JsonObject } from "../lib/json.ts";
import type { InputSchema } from "./input-schema.ts";
import type { ServerTool } from "./server-tool.ts";
import { DEFAULT_PACING } from "./pacing.ts";

/** A client tool, as a participant announced it in its Configuration. */
export interface AnnouncedTool {
  readonly name: string;
  readonly description: string;
  readonly input: InputSchema;
  readonly execution: "client" | "either";
  /** In whose turns the tool may be used: only its owner's (`own`), or everyone's (`room`). */
  readonly scope: "own" | "room";
  readonly timeoutMs: number | undefined;
  readonly readOnly: boolean;
}

/** A participant whose device can run tools. `tools` is `undefined` while its list is unknown. */
export interface Device {
  readonly identity: string;
  /** Whether its client claims the `either` calls that it runs (the feature `claims`). */
  readonly claims: boolean;
  readonly tools: ReadonlyMap<string, AnnouncedTool> | undefined;
}

/** A device that calls in one participant's turns may go to. */
export interface TurnDevice extends Device {
  /** Whether the device belongs to the participant whose turn it is. */
  readonly isOwn: boolean;
}

/**
 * Returns the devices that calls in this participant's turns may go to: first the participant's own, with all tools
 * that it announced, then the others, with the tools that they announced for the room. A device whose tool list is
 * unknown is asked only in its owner's turns.
 */
export function devicesFor(participant: string, hosts: readonly Device[]): TurnDevice[] {
  const isOwn = ({ identity }: Device) => identity === participant;
  const own = hosts.filter(isOwn).map(({ identity, claims, tools }) => ({ identity, claims, tools, isOwn: true }));
  const others = hosts.filter((host) => !isOwn(host));
  const shared = others.map(({ identity, claims, tools = new Map<string, AnnouncedTool>() }) => {
    const forRoom = new Map([...tools].filter(([, { scope }]) => scope === "room"));
    return { identity, claims, tools: forRoom, isOwn: false };
  });
  return [...own, ...shared];
}

/**
 * Returns the devices that may run a tool. No other participant may serve one of the worker's tools by announcing its
 * name, because the model and the turn's participant would mistake it for the worker's own. A tool with scope `room`
 * may run on all devices.
 */
function devicesOf({ scope }: Pick<FoundTool, "scope">, hosts: readonly TurnDevice[]): readonly TurnDevice[] {
  return scope === "room" ? hosts : hosts.filter(({ isOwn }) => isOwn);
}

/** A tool as the model sees it. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The participant that announced it; absent for tools of the worker and of MCP servers. */
  readonly owner?: string;
  /** Whether it comes and goes with a client or an MCP server. @defaultValue false */
  readonly isTemporary?: boolean;
}

/** Everything needed to run a tool, wherever it was declared. */
export type FoundTool = Omit<ServerTool, "description" | "isDisconnected" | "onlyAfterCompaction" | "endTurn">;

/**
 * Where a call goes. `unannounced`: an `either` call goes to a client whose tools the worker does not know, because the
 * client may have the tool. A client with `claims` first acknowledges that it takes the call; any other client has the
 * call's full timeout to answer.
 */
export type Route =
  | { readonly to: "server" }
  | { readonly to: "client"; readonly identity: string }
  | { readonly to: "unannounced"; readonly identity: string; readonly claims: boolean }
  | { readonly to: "nobody" };

type ServerTools = ReadonlyMap<string, ServerTool>;

/**
 * Returns the tools that are reachable now, sorted by name so that the prompt cache keeps its prefix.
 *
 * @param options.isCompacted whether turns have been dropped from the context window
 */
export function offeredTools(
  serverTools: ServerTools,
  hosts: readonly TurnDevice[],
  { isCompacted }: { readonly isCompacted: boolean },
): OfferedTool[] {
  const offered = new Map<string, OfferedTool>();
  for (const tool of serverTools.values()) {
    if (tool.isDisconnected?.() || (tool.onlyAfterCompaction && !isCompacted)) continue;
    if (tool.execution === "client" && routeCall(tool, hosts).to === "nobody") continue;
    const { name, description, input } = tool;
    const isTemporary = tool.execution === "client" || tool.isDisconnected !== undefined;
    offered.set(name, { name, description, inputSchema: input.jsonSchema, ...(isTemporary && { isTemporary }) });
  }
  for (const host of hosts) {
    for (const tool of host.tools?.values() ?? []) {
      if (serverTools.has(tool.name) || offered.has(tool.name)) continue;
      offered.set(tool.name, {
        name: tool.name,
        description: describeAnnounced(host.identity, tool.description),
        inputSchema: tool.input.jsonSchema,
        owner: host.identity,
        isTemporary: true,
      });
    }
  }
  return [...offered.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Returns the server tool with this name, or else the announced tool of the first device that has one. The device of
 * the turn's participant comes first.
 */
export function findTool(name: string, serverTools: ServerTools, hosts: readonly TurnDevice[]): FoundTool | undefined {
  const own = serverTools.get(name);
  if (own) return own;
  const announced = hosts.find((host) => host.tools?.has(name))?.tools?.get(name);
  if (!announced) return undefined;
  const { readOnly } = announced;
  const onInterrupt = readOnly ? "cancel" : "finish";
  // Any of these devices may run it: `devicesFor` excluded tools that others announced only for themselves.
  return { ...announced, scope: "room", idempotent: readOnly, onInterrupt, pacing: DEFAULT_PACING };
}

export function routeCall(tool: FoundTool, all: readonly TurnDevice[]): Route {
  if (tool.execution === "server") return { to: "server" };
  const hosts = devicesOf(tool, all);
  const able = hosts.find((host) => host.tools?.has(tool.name));
  if (able) return { to: "client", identity: able.identity };
  const unknown = hosts.find((host) => host.tools === undefined);
  if (tool.execution === "either" && tool.run)
    return unknown ? { to: "unannounced", identity: unknown.identity, claims: unknown.claims } : { to: "server" };
  return unknown ? { to: "client", identity: unknown.identity } : { to: "nobody" };
}

/** Describes an announced tool to the model. The participant's own words are quoted. */
function describeAnnounced(identity: string, description: string): string {
  const owner = JSON.stringify(identity);
  return `Runs on the device of participant ${owner}, which describes it as: ${JSON.stringify(description)}`;
}
