import { onTestFinished } from "vitest";
import { connect, type ClientTool, type ConnectOptions, type Parley } from "../../src/client/index.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import { MemoryRoom } from "../support/doubles/memory-transport.ts";

/** A connected client in its own room. Closed when the test ends. */
export async function openClient(options: ConnectOptions = {}): Promise<{ room: MemoryRoom; parley: Parley }> {
  const room = new MemoryRoom();
  const parley = await connect(room.transport, options);
  onTestFinished(() => parley.close());
  return { room, parley };
}

/** A client with one tool, `echo`, which accepts any input. */
export async function openWithTool(
  run: ClientTool["run"],
  tool: Partial<ClientTool<JsonObject>> = {},
): Promise<{ room: MemoryRoom; parley: Parley }> {
  const opened = await openClient();
  opened.parley.registerTool({ name: "echo", description: "Echoes.", input: { type: "object" }, run, ...tool });
  return opened;
}

/** A tool that never ends by itself, with the signals it received and the number of its runs. */
export function stuckTool(): { run: ClientTool["run"]; signals: AbortSignal[]; started: () => number } {
  const signals: AbortSignal[] = [];
  return {
    run: (_input, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    },
    signals,
    started: () => signals.length,
  };
}
