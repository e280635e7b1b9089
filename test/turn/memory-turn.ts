import { getEventListeners } from "node:events";
import { asText } from "../../src/lib/json.ts";
import type { TurnBlock } from "../../src/conversation/block.ts";
import type { TurnAbort } from "../../src/conversation/turn-abort.ts";
import type { TurnRecord } from "../../src/conversation/turn-record.ts";
import type { ModelBlock, ModelEvent, StopReason, Usage } from "../../src/llm/model-event.ts";
import type { ToolUse } from "../../src/tool/calls/call-ports.ts";
import type { ModelAnswer } from "../../src/tool/outcome.ts";
import type { StepRequest } from "../../src/turn/run-step.ts";
import { runTurn, type TurnDependencies } from "../../src/turn/run-turn.ts";
import { ContextWindow } from "../../src/turn/context-window.ts";
import type { TurnEvent } from "../../src/turn/turn-event.ts";
import { turn } from "../conversation/arbitrary-turns.ts";

export const USAGE: Usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 2, cacheWriteTokens: 1 };

/** A part of a model call's stream: an event, or a function that is called when the stream reaches it. */
export type Item = ModelEvent | (() => unknown);
export type Call = readonly Item[];

let blockCount = 0;
const whole = (block: ModelBlock, more: { tool?: object; inputError?: string; deltas?: ModelEvent[] } = {}): Call => {
  const index = blockCount++;
  const { tool, inputError } = more;
  return [
    { type: "block_start", index, blockType: block.blockType, ...(tool && { tool }) } as ModelEvent,
    ...(more.deltas ?? []).map((delta) => ({ ...delta, index }) as ModelEvent),
    { type: "block_stop", index, block, ...(inputError !== undefined && { inputError }) },
  ];
};
const delta = (kind: "text" | "thinking", text: string): ModelEvent => ({
  type: "block_delta",
  index: 0,
  delta: { type: kind, text },
});

export const text = (said: string) =>
  whole({ blockType: "text", textContent: said, content: null }, { deltas: [delta("text", said)] });
export const thinking = (thought: string, signature = "sig") =>
  whole(
    { blockType: "thinking", textContent: thought, content: { signature } },
    { deltas: [delta("thinking", thought)] },
  );
export function use(toolName: string, id: string, inputError?: string): Call {
  const input = inputError === undefined ? { n: 1 } : { _raw: "{" };
  const content = { tool_use_id: id, tool_name: toolName, input };
  const tool = { toolUseId: id, toolName };
  const error = inputError === undefined ? {} : { inputError };
  return whole({ blockType: "tool_use", textContent: null, content }, { tool, ...error });
}
export const search = (id: string) =>
  whole({ blockType: "server_tool_use", textContent: null, content: { tool_use_id: id, tool_name: "s", input: {} } });
export const other = (blockType: string) => whole({ blockType, textContent: null, content: { type: blockType } });
/** A block that has started but not ended, with an optional text. */
export const half = (blockType: string, said = ""): Call => {
  const index = blockCount++;
  const start: ModelEvent = { type: "block_start", index, blockType };
  return said === "" ? [start] : [start, { type: "block_delta", index, delta: { type: "text", text: said } }];
};
export const stop = (stopReason: StopReason): Call => [
  { type: "message_stop", stopReason, stopDetails: null, usage: USAGE },
];
export const fail = (error: unknown) => (): never => {
  throw error;
};
export const begin: ModelEvent = { type: "message_start", id: "msg", model: "m", usage: { ...USAGE, outputTokens: 1 } };

const TOOLS: Readonly<Record<string, (use: ToolUse, signal: AbortSignal) => ModelAnswer | Promise<ModelAnswer>>> = {
  ok: ({ toolUseId }) => ({ content: `ok ${toolUseId}`, isError: false }),
  bad: () => ({ content: "It broke", isError: true }),
  /** Returns its result only when the turn is aborted, as a real call does. */
  waits: (_use, signal) =>
    new Promise((resolve) => {
      const end = () => resolve({ content: "Cancelled", isError: true });
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
    }),
};

export interface Setup {
  readonly calls: readonly Call[];
  readonly past?: readonly TurnRecord[];
  readonly blocks?: readonly TurnBlock[];
  readonly maxSteps?: number;
  readonly tools?: typeof TOOLS;
  readonly durable?: () => Promise<void>;
  readonly more?: Partial<TurnDependencies>;
  /** Called for each event. The turn continues after that. */
  readonly onEvent?: (event: TurnEvent, abort: (reason: TurnAbort) => void) => void;
}

/** Runs a turn with a scripted model, and keeps its record in memory. */
export class MemoryTurn {
  readonly events: TurnEvent[] = [];
  readonly stored: TurnBlock[] = [];
  readonly requests: StepRequest[] = [];
  readonly started: string[] = [];
  readonly refused: { readonly id: string; readonly why: string }[] = [];
  readonly controller = new AbortController();

  static async run(setup: Setup): Promise<MemoryTurn> {
    const memory = new MemoryTurn();
    await memory.#run(setup);
    return memory;
  }

  get end() {
    const event = this.events.at(-1);
    if (event?.type !== "turn_complete") throw new TypeError("The turn has not ended");
    return event;
  }

  get listenerCount(): number {
    return getEventListeners(this.controller.signal, "abort").length;
  }

  /** `text Hello`, `tool_use t1`, `tool_result t1: ok`, in stored order. */
  get outline(): string[] {
    return this.stored.map(({ blockType, textContent, content }) => {
      const id = asText(content?.["tool_use_id"]);
      return blockType === "tool_result"
        ? `${blockType} ${id}: ${asText(content?.["content"])}`
        : `${blockType} ${textContent ?? id}`.trim();
    });
  }

  async #run({ calls, past = [], blocks = [], maxSteps = 10, tools = TOOLS, more, ...rest }: Setup): Promise<void> {
    const { signal } = this.controller;
    const waiting = [...calls];
    const deps: TurnDependencies = {
      model: "test",
      maxSteps,
      openStream: (request) => {
        this.requests.push(request);
        const call = waiting.shift();
        return play(call ?? [fail(new Error("This model call is not scripted"))]);
      },
      record: { add: (block) => void this.stored.push(block), durable: rest.durable ?? (() => Promise.resolve()) },
      tools: {
        run: async (each) => {
          this.started.push(each.toolUseId);
          const tool = tools[each.toolName] ?? TOOLS[each.toolName];
          return tool ? tool(each, signal) : { content: "Unknown", isError: true };
        },
        refuse: ({ toolUseId: id }, why) => {
          this.refused.push({ id, why });
          return { content: why, isError: true };
        },
        startsEarly: (name) => name.startsWith("read"),
      },
      overheadFor: () => ({ key: "", bytes: 0 }),
      countTokens: () => Promise.resolve(undefined),
      ...more,
    };
    const shown = new ContextWindow({ turns: past, context: undefined }, { budgetTokens: 30_000, hardTokens: 120_000 });
    const input = [{ type: "text" as const, text: "Go" }];
    const running = turn(past.length + 1, "running", { input, blocks });
    for await (const event of runTurn({ shown, turn: running }, deps, signal)) {
      this.events.push(event);
      rest.onEvent?.(event, (reason) => this.controller.abort(reason));
    }
  }
}

async function* play(call: Call): AsyncGenerator<ModelEvent> {
  for (const item of call) {
    if (typeof item === "function") await item();
    else yield item;
  }
}
