import { type ReadableStream } from "node:stream/web";
import { llm, voice } from "@livekit/agents";
import { type AudioFrame } from "@livekit/rtc-node";

/** Where AgentSession's parts get what they hand on. Nothing here throws. */
export interface SpeechAgentPorts {
  /** The text of the reply that is being generated. */
  readonly nextText: () => ReadableStream<string>;
  readonly synthesize: (text: AsyncIterable<string>) => ReadableStream<AudioFrame>;
  /** The participant has said something and is silent. */
  readonly onUserTurn: (text: string) => void;
}

/**
 * The turn engine in the place of AgentSession's model: replies are what the session gives to be spoken, and what is said
 * to it goes to the session, which decides what becomes of it. AgentSession's own chat context stays empty.
 */
export class SpeechAgent extends voice.Agent {
  readonly #ports: SpeechAgentPorts;

  constructor(ports: SpeechAgentPorts) {
    super({ instructions: "" });
    this.#ports = ports;
  }

  override async llmNode(): Promise<ReadableStream<string>> {
    return this.#ports.nextText();
  }

  override async ttsNode(text: ReadableStream<string> | AsyncIterable<string>): Promise<ReadableStream<AudioFrame>> {
    return this.#ports.synthesize(text);
  }

  override async onUserTurnCompleted(_context: llm.ChatContext, message: llm.ChatMessage): Promise<void> {
    this.#ports.onUserTurn(message.textContent ?? "");
    throw new voice.StopResponse();
  }
}

/** AgentSession wants a model; `llmNode` never asks it. */
export class NoModel extends llm.LLM {
  override label(): string {
    return "parley";
  }

  override chat(): llm.LLMStream {
    throw new TypeError("The turn engine answers, not AgentSession's model");
  }
}
