import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "../../lib/json.ts";
import type { ServerTool } from "../../tool/server-tool.ts";
import { type Behaviour, type Behaviours, inTurn, toValue } from "./behaviour.ts";

/** The agent's own tool with its schema, permission and times, but with a test's behaviour in the place of `run`. */
export function mockTool(tool: ServerTool, behaviours: Behaviours): ServerTool {
  const next = inTurn(behaviours);
  return { ...tool, run: (input, { signal }) => run(next(), input as JsonObject, signal) };
}

async function run(behaviour: Behaviour, input: JsonObject, signal: AbortSignal): Promise<unknown> {
  switch (behaviour.kind) {
    case "answer":
      if (behaviour.afterMs > 0) await sleep(behaviour.afterMs, undefined, { signal });
      return toValue(behaviour.value, input);
    case "throws":
      throw new Error(behaviour.message);
    case "never":
    case "leave":
      await sleep(600_000, undefined, { signal });
      return undefined;
  }
}
