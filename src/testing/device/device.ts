import { setTimeout as sleep } from "node:timers/promises";
import type { Parley } from "../../client/parley.ts";
import { ToolError, type ClientTool, type ToolContext } from "../../client/tools/client-tool.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { ServerTool } from "../../tool/server-tool.ts";
import { type Behavior, type Behaviors, inTurn, toList, toValue } from "./behavior.ts";
import type { Fate } from "./faulty-transport.ts";

interface DevicePorts {
  readonly parley: () => Parley;
  /** The agent's own tools. A device's tool of the same name inherits the fields that the test does not set. */
  readonly ownTools: ReadonlyMap<string, ServerTool>;
  /** Receives the timeouts that the test sets, by tool name, so that the agent enforces them for its own tools. */
  readonly deadlines: Map<string, number>;
  readonly leave: () => Promise<void>;
  readonly comeBack: () => Promise<void>;
}

/** The participant's device, whose tools behave as the test specifies. */
export class Device {
  readonly #ports: DevicePorts;
  readonly #withdraw = new Map<string, () => void>();
  readonly #fates = new Map<string, Fate>();

  constructor(ports: DevicePorts) {
    this.#ports = ports;
  }

  readonly fateOf = (callId: string): Fate | undefined => this.#fates.get(callId);

  /** Announces additional tools. A tool replaces an earlier one of the same name. */
  announce(tools: Readonly<Record<string, Behaviors>>): void {
    for (const [name, behaviors] of Object.entries(tools)) {
      this.#withdraw.get(name)?.();
      this.#withdraw.set(name, this.#ports.parley().registerTool(this.#toTool(name, behaviors)));
    }
  }

  #toTool(name: string, behaviors: Behaviors): ClientTool {
    const own = this.#ports.ownTools.get(name);
    const ofTest = Object.assign({}, ...toList(behaviors).toReversed()) as Behavior;
    if (ofTest.timeoutMs === undefined) this.#ports.deadlines.delete(name);
    else this.#ports.deadlines.set(name, ofTest.timeoutMs);
    const timeoutMs = ofTest.timeoutMs ?? own?.timeoutMs;
    const execution = ofTest.execution ?? (own?.execution === "either" ? "either" : undefined);
    const next = inTurn(behaviors);
    return {
      name,
      description: ofTest.description ?? own?.description ?? `${name} on the participant's device.`,
      input: ofTest.input ?? own?.input.jsonSchema ?? { type: "object" },
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(execution !== undefined && { execution }),
      run: (input, context) => this.#run(next(), input, context),
    };
  }

  #run(behavior: Behavior, input: JsonObject, context: ToolContext): unknown {
    switch (behavior.kind) {
      case "answer": {
        const { afterMs, times } = behavior;
        this.#fates.set(context.callId, { kind: "sent", afterMs, times });
        return toValue(behavior.value, input);
      }
      case "never":
        this.#fates.set(context.callId, { kind: "lost" });
        return undefined;
      case "leave":
        return this.#leave(behavior, input, context.signal);
      case "throws": {
        const { code, message, result } = behavior;
        throw new ToolError(code, message, result && { result });
      }
    }
  }

  async #leave(
    { backAfterMs, value }: Extract<Behavior, { kind: "leave" }>,
    input: JsonObject,
    signal: AbortSignal,
  ): Promise<unknown> {
    await this.#ports.leave();
    // A device that does not come back waits here until the call is aborted.
    await sleep(backAfterMs ?? 600_000, undefined, { signal });
    await this.#ports.comeBack();
    return toValue(value, input);
  }
}
