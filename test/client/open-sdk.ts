import { Room } from "@livekit/rtc-node";
import { inject, onTestFinished } from "vitest";
import { type ClientTool, connect, type Parley } from "../../src/client/index.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import type { TestAgent } from "../support/agent.ts";
import { createToken } from "../support/participant.ts";

const any: JsonObject = { type: "object" };

export interface SdkClient {
  readonly room: Room;
  readonly parley: Parley;
}

export async function openRoom(agent: TestAgent, identity: string, grant: object = {}): Promise<Room> {
  const room = new Room();
  onTestFinished(() => room.disconnect());
  await joinRoom(room, agent, { identity, ...grant });
  return room;
}

export async function joinRoom(
  room: Room,
  agent: TestAgent,
  { identity, ...grant }: { identity: string },
): Promise<void> {
  await room.connect(inject("livekitUrl"), await createToken(agent.roomName, identity, grant), {
    autoSubscribe: false,
    dynacast: false,
  });
}

/**
 * Connects the SDK in a room of @livekit/rtc-node. With tools, resolves once the worker has acknowledged the client.
 */
export async function openSdk(
  agent: TestAgent,
  identity: string,
  tools: readonly ClientTool[] = [],
): Promise<SdkClient> {
  const room = await openRoom(agent, identity);
  const parley = await connect(room);
  onTestFinished(() => parley.close());
  for (const tool of tools) parley.registerTool(tool);
  if (tools.length > 0) await parley.whenConnected(5_000);
  return { room, parley };
}

export const toolOf = (run: ClientTool["run"], more: Partial<ClientTool> = {}): ClientTool => ({
  name: "scan",
  description: "Scans.",
  input: any,
  run,
  ...more,
});

/** Returns the calls that the worker has stored, sorted by turn and name. */
export const stored = (agent: TestAgent) =>
  agent.sql<
    { name: string; state: string; error_code: string; error_message: string; result: unknown; logs: string[] }[]
  >`
    select name, calls.state, calls.error_code, calls.error_message, result, logs, execution_resolved
    from tool_calls calls join turns on turns.id = turn_id order by position, name`;

export async function until(holds: () => boolean | Promise<boolean>, what: string, timeoutMs = 8_000): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A tool that ends when the test resolves it. */
export function heldTool(more: Partial<ClientTool> = {}) {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const signals: AbortSignal[] = [];
  const run: ClientTool["run"] = (_input, { signal }) => {
    signals.push(signal);
    return promise;
  };
  return { tool: toolOf(run, more), signals, finish: resolve };
}
