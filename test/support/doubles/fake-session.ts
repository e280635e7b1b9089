import { pino, type Logger } from "pino";
import type { HistoryMessage } from "../../../src/conversation/history.ts";
import { createId } from "../../../src/lib/id.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import type { ModelEvent } from "../../../src/llm/model-event.ts";
import { encodeEnvelope, type ReceivedMessage } from "../../../src/protocol/codec/codec.ts";
import { decodeEnvelope } from "../../../src/protocol/codec/decode-envelope.ts";
import type { Message } from "../../../src/protocol/messages/messages.ts";
import { assembleSession, type SessionWorld } from "../../../src/session/assemble-session.ts";
import type { RoomParticipant } from "../../../src/session/room/room-input.ts";
import type { SessionWatcher } from "../../../src/session/events/session-event.ts";
import type { SessionPolicy } from "../../../src/session/session-policy.ts";
import type { Session } from "../../../src/session/session.ts";
import type { VoicePort } from "../../../src/session/room/voice-port.ts";
import type { Tool } from "../../../src/tool/define-tool.ts";
import { MemoryStore } from "../../../src/testing/memory/memory-store.ts";
import { toServerTool } from "../../../src/tool/server-tool.ts";

/** The model's reply in one call. */
export interface FakeReply {
  readonly text?: string;
  readonly uses?: readonly { readonly name: string; readonly input?: JsonObject }[];
}

interface FakeSessionOptions {
  readonly think: (history: readonly HistoryMessage[]) => FakeReply;
  /** Sends outgoing packets. Must not throw. */
  readonly publish: (bytes: Uint8Array, to: readonly string[] | undefined) => Promise<void>;
  readonly tools?: Readonly<Record<string, Tool>>;
  readonly policy?: Partial<SessionPolicy>;
  readonly watchers?: readonly SessionWatcher[];
  readonly voice?: VoicePort;
  /** Receives the text written to lk.transcription. */
  readonly transcribe?: (text: string) => void;
  /** Parts of the session's world that replace the defaults. */
  readonly world?: Partial<SessionWorld>;
  /** @defaultValue silent, unless `LOG_LEVEL` is set */
  readonly logger?: Logger;
}

/**
 * A session without LiveKit, database and model: packets are passed in and out as bytes, and the model is a function.
 */
export class FakeSession {
  readonly conversationId = "fake";
  readonly store = new MemoryStore("fake");
  readonly recorder = this.store.memoryRecorder;
  readonly session: Session;
  readonly dropped: string[] = [];

  constructor({ think, publish, tools = {}, policy = {}, watchers = [], voice, ...more }: FakeSessionOptions) {
    const { transcribe = () => {}, world, logger = pino({ level: process.env["LOG_LEVEL"] ?? "silent" }) } = more;
    const fixed = { model: "fake", maxSteps: 10, toolTimeoutMs: 30_000, toolResultMaxBytes: 100_000 };
    const { session } = assembleSession({
      room: "fake",
      sessionId: "fake",
      conversationId: this.conversationId,
      store: this.store,
      policy: {
        ...fixed,
        permission: { rules: [], byVoice: false, waitMs: 120_000 },
        context: { budgetTokens: 30_000, hardTokens: 120_000, instructionBytes: 0 },
        onNewMessage: "queue",
        ...policy,
      },
      serverTools: new Map(Object.entries(tools).map(([name, tool]) => [name, toServerTool(name, tool, undefined)])),
      openStream: ({ history, tools: offered, observe }, signal) => {
        const request = { model: "fake", max_tokens: 1, messages: [] };
        const replying = stream(() => think(history), signal);
        const call = { request, history, instructions: "", tools: offered, serverTools: [] };
        return observe ? observe(call, replying) : replying;
      },
      link: {
        publish,
        openTranscription: async () => ({ write: async (text) => transcribe(text), close: async () => {} }),
      },
      voice,
      watchers,
      logger,
      ...world,
    });
    this.session = session;
  }
}

async function* stream(think: () => FakeReply, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const { text, uses = [] } = think();
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
  signal.throwIfAborted();
  yield { type: "message_start", id: "msg", model: "fake", usage };
  let index = 0;
  if (text !== undefined) {
    yield { type: "block_start", index, blockType: "text" };
    yield { type: "block_delta", index, delta: { type: "text", text } };
    yield { type: "block_stop", index, block: { blockType: "text", textContent: text, content: null } };
    index++;
  }
  for (const { name, input = {} } of uses) {
    const toolUseId = `toolu_${createId()}`;
    const content = { tool_use_id: toolUseId, tool_name: name, input };
    yield { type: "block_start", index, blockType: "tool_use", tool: { toolUseId, toolName: name } };
    yield { type: "block_stop", index, block: { blockType: "tool_use", textContent: null, content } };
    index++;
  }
  yield { type: "message_stop", stopReason: uses.length > 0 ? "tool_use" : "end_turn", stopDetails: null, usage };
}

/** The last user message if this is the turn's first model call; `undefined` after tool results. */
export function lastUserText(history: readonly HistoryMessage[]): string | undefined {
  const last = history.at(-1);
  const block = last?.blocks.at(-1);
  return last?.role === "user" && block?.blockType === "text" ? (block.textContent ?? "") : undefined;
}

export const fakeParticipant = (identity: string, join = 1): RoomParticipant => ({
  identity,
  sid: `PA_${identity}_${join}`,
  isSip: false,
});

export function encode(stanzaId: number, message: Message): Uint8Array {
  return encodeEnvelope({ stanzaId, conversationId: "fake", message });
}

/**
 * Decodes a message from the worker. Throws if our own decoder does not know the type, because the worker must never
 * send a message of such a type.
 */
export function decode(bytes: Uint8Array): ReceivedMessage {
  const incoming = decodeEnvelope(bytes);
  if (!("message" in incoming)) throw new TypeError("The worker sent an unknown type");
  return incoming;
}
