import { getEventListeners } from "node:events";
import type { z } from "zod";
import type { Call, CancelReason, ExtraAnswer } from "../../src/conversation/call.ts";
import type { Media } from "../../src/conversation/content.ts";
import { TurnAbort } from "../../src/conversation/turn-abort.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import { CallLedger, type ClientSignal, type LedgerListener } from "../../src/tool/calls/call-ledger.ts";
import type { CallClients, CallPorts, CallQuestions, CallTurn, ToolUse } from "../../src/tool/calls/call-ports.ts";
import { fillInForm, type FormPorts } from "../../src/tool/calls/fill-in-form.ts";
import { defineTool, type ToolDefinition } from "../../src/tool/define-tool.ts";
import { devicesFor, type AnnouncedTool } from "../../src/tool/tool-routing.ts";
import { compileForeignSchema } from "../../src/tool/input-schema.ts";
import { failure, success, type ModelAnswer } from "../../src/tool/outcome.ts";
import { LiveState } from "../../src/session/state/live-state.ts";
import { CallRunner } from "../../src/tool/calls/call-runner.ts";
import { toServerTool, type ServerTool } from "../../src/tool/server-tool.ts";

interface Options {
  readonly tools?: Readonly<Record<string, ServerTool>>;
  /** The tools that each participant has announced; `undefined` for a participant whose tools are unknown. */
  readonly participants?: Readonly<Record<string, readonly AnnouncedTool[] | undefined>>;
  /** Whether the participants' clients claim `either` calls. @defaultValue true */
  readonly claims?: boolean;
  readonly resultMaxBytes?: number;
  readonly durable?: () => Promise<void>;
  readonly untilMayStart?: () => Promise<void>;
  /** @defaultValue allows everything */
  readonly permit?: CallQuestions["permit"];
  readonly permitRunning?: CallQuestions["permitRunning"];
  /** Forms that an earlier worker has left open, by id. */
  readonly left?: ReadonlyMap<string, Call>;
  /** @defaultValue answers `cancel` */
  readonly askInWords?: FormPorts["askInWords"];
  /** Called for each request to the clients. `count` is the number of requests so far, including this one. */
  readonly sendRequest?: (call: Call, count: number) => Promise<void>;
}

/** Simulates the session around the calls, in memory. Records the calls that it receives, in order. */
export class MemoryPorts implements CallPorts {
  readonly opened: Call[] = [];
  readonly settled: Call[] = [];
  readonly extra: ExtraAnswer[] = [];
  readonly requests: Call[] = [];
  readonly results: Call[] = [];
  readonly cancels: { readonly call: Call; readonly reason: CancelReason }[] = [];
  readonly media: Media[] = [];
  readonly lateOutcomes: ModelAnswer[] = [];
  lines: readonly string[] = [];
  progress: number | undefined;
  readonly absent = new Set<string>();
  readonly controller = new AbortController();
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  readonly settings: CallPorts["settings"];
  readonly #options: Options;

  readonly ledger: CallLedger;

  constructor(options: Options = {}) {
    this.#options = options;
    this.serverTools = new Map(Object.entries(options.tools ?? {}));
    const listener: LedgerListener = {
      onOpened: (call) => this.opened.push(call),
      onChanged: () => {},
      onBegun: () => {},
      onProgress: ({ logs, progress }) => {
        this.lines = logs;
        this.progress = progress;
      },
      onSettled: (call) => {
        this.settled.push(call);
        this.liveState.settle(call);
      },
      onExtraAnswer: (_callId, answer) => this.extra.push(answer),
    };
    this.ledger = new CallLedger(listener, this.serverTools);
    this.settings = {
      room: "room",
      roomSid: "RM_1",
      sessionId: "session",
      defaultTimeoutMs: 30_000,
      resultMaxBytes: options.resultMaxBytes ?? 100_000,
      toolDetail: {},
    };
  }

  readonly record: CallPorts["record"] = {
    durable: () => this.#options.durable?.() ?? Promise.resolve(),
    storeMedia: (_call, media) => void this.media.push(...media),
  };
  readonly clients: CallClients = {
    hosts: (participant) => {
      const hosts = Object.entries(this.#options.participants ?? {});
      const toHost = ([identity, tools]: (typeof hosts)[number]) => {
        const { claims = true } = this.#options;
        return { identity, claims, tools: tools && new Map(tools.map((tool) => [tool.name, tool])) };
      };
      return devicesFor(participant, hosts.map(toHost));
    },
    isPresent: (identity) => !this.absent.has(identity),
    sendRequest: (call) => {
      this.requests.push(call);
      return this.#options.sendRequest?.(call, this.requests.length) ?? Promise.resolve();
    },
    sendResult: (call) => void this.results.push(call),
    sendCancel: (call, reason) => void this.cancels.push({ call, reason }),
  };
  readonly questions: CallQuestions = {
    permit: (call, need, turn) => this.#options.permit?.(call, need, turn) ?? { isAllowed: true },
    permitRunning: (call, need) => this.#options.permitRunning?.(call, need) ?? { isAllowed: true },
    denialOf: () => undefined,
    withdraw: () => Promise.resolve(),
    elicit: (call, request, index) => {
      const waitMs = this.settings.defaultTimeoutMs;
      const { left = new Map<string, Call>(), askInWords = async () => ({ action: "cancel" }) as const } =
        this.#options;
      return fillInForm(
        call,
        { request, index },
        { calls: this, waitMs, takeOpenForm: (id) => left.get(id), askInWords },
      );
    },
  };
  readonly liveState = new LiveState({ stored: { state: undefined, version: 0 }, logger: { warn: () => {} } });
  readonly state: CallPorts["state"] = {
    accessOf: (call) => this.liveState.accessOf(call),
    check: (callId) => this.liveState.check(callId),
    untilStored: () => undefined,
  };
  readonly session: CallPorts["session"] = {
    describe: () => ({ agent: "default", attributes: {} }),
    untilMayStart: () => this.#options.untilMayStart?.(),
    traceOf: () => ({}),
    onThrew: (_call, error) => void this.thrown.push(error),
    onLateOutcome: (_call, answer) => void this.lateOutcomes.push(answer),
  };
  readonly thrown: unknown[] = [];

  /** How many listeners the turn's signal has. */
  get listenerCount(): number {
    return getEventListeners(this.controller.signal, "abort").length;
  }

  get turn(): CallTurn {
    const { signal } = this.controller;
    return { turnId: "turn", messageId: "m", participant: "user", signal, aside: () => Promise.resolve("heard") };
  }

  run(toolName: string, input: JsonObject = {}, more: Partial<ToolUse> = {}): Promise<ModelAnswer> {
    return new CallRunner(this).run({ toolUseId: "toolu_1", toolName, input, ...more }, this.turn);
  }

  abort(kind: TurnAbort["kind"]): void {
    this.controller.abort(new TurnAbort(kind));
  }

  /** The id of the newest call. */
  get callId(): string {
    return this.opened.at(-1)?.id ?? "";
  }

  answer(result: JsonObject, from = "user") {
    return this.ledger.answer(this.callId, success(result), from);
  }

  answerError(code: string, message: string, from = "user") {
    return this.ledger.answer(this.callId, failure(code, message), from);
  }

  signal(kind: ClientSignal, from = "user"): boolean {
    return this.ledger.signal(this.callId, from, kind);
  }
}

type Definition<Input> = Partial<ToolDefinition<Input, undefined>>;

export function serverTool<Input = unknown>(
  name: string,
  { input = { type: "object" }, ...rest }: Definition<Input> & { input?: z.ZodType<Input> | JsonObject },
): ServerTool {
  const definition = { description: "D.", input, run: () => "ok", ...rest } as ToolDefinition<Input, undefined>;
  return toServerTool(name, defineTool(definition), undefined);
}

/** Compiled once, because compiling is slow. */
const ANY_OBJECT = compileForeignSchema({ type: "object" });

export function announced(name: string, more: Partial<AnnouncedTool> = {}): AnnouncedTool {
  return {
    name,
    description: "A.",
    input: ANY_OBJECT,
    execution: "client",
    scope: "own",
    timeoutMs: undefined,
    readOnly: false,
    ...more,
  };
}
