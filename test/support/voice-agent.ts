import { LLMock } from "@copilotkit/aimock";
import { initializeLogger, type stt } from "@livekit/agents";
import { vi } from "vitest";
import { loadSpeech, type Speech, type SpeechChoice } from "../../src/voice/providers/speech-choice.ts";
import type { Synthesizer } from "../../src/voice/providers/synthesizer.ts";
import { voiceSchema, type VoiceSettings } from "../../src/voice/voice-settings.ts";
import { TestAgent, type AgentOptions } from "./agent.ts";
import { Participant } from "./participant.ts";
import { Speaker, speechOf } from "./speaker.ts";

interface VoiceAgentOptions extends AgentOptions {
  readonly choice?: Partial<SpeechChoice>;
  readonly settings?: Partial<VoiceSettings>;
  /** The speech recognizer to use instead of the openai plugin with the simulated server. */
  readonly stt?: stt.STT;
  /** Judges when a turn ends. Without it, 500 ms of silence ends a turn. */
  readonly endOfTurnModel?: Speech["endOfTurnModel"];
  /** Wraps espeak-ng. Called for the default voice, and for each voice that an agent sets. */
  readonly wrap?: (synthesizer: Synthesizer, voiceName?: string) => Synthesizer;
}

const CHOICE: SpeechChoice = {
  stt: "openai",
  sttModel: "whisper-1",
  sttLanguage: "en",
  sttBaseUrl: undefined,
  tts: "espeak",
  ttsModel: undefined,
  ttsVoice: undefined,
  ttsBaseUrl: undefined,
  keys: { OPENAI_API_KEY: "test" },
  hasOwnLivekit: true,
};

/**
 * Loads everything that a first spoken session loads, and generates the sound of these texts. Call this in `beforeAll`.
 */
export async function warmUp(...texts: readonly string[]): Promise<void> {
  initializeLogger({ pretty: false, level: "silent" });
  await Promise.all([
    import("../../src/voice/room-voice.ts"),
    import("@livekit/agents-plugin-openai"),
    ...texts.map((text) => speechOf(text)),
  ]);
}

/**
 * A `TestAgent` that listens and speaks. It detects voice activity in real sound and speaks with real sound. What it
 * understands is up to the test: the recognizer is the openai plugin with a simulated server.
 */
export class VoiceAgent implements AsyncDisposable {
  readonly agent: TestAgent;
  readonly #recognizer: LLMock;
  readonly #cleanup: AsyncDisposableStack;

  private constructor(agent: TestAgent, recognizer: LLMock, cleanup: AsyncDisposableStack) {
    this.agent = agent;
    this.#recognizer = recognizer;
    this.#cleanup = cleanup;
  }

  static async start({
    choice,
    settings,
    stt,
    endOfTurnModel,
    wrap,
    ...options
  }: VoiceAgentOptions = {}): Promise<VoiceAgent> {
    initializeLogger({ pretty: false, level: "silent" });
    await using started = new AsyncDisposableStack();
    const recognizer = new LLMock({ host: "127.0.0.1", port: 0, logLevel: "silent" });
    const url = await recognizer.start();
    started.defer(() => recognizer.stop());
    const loaded = await loadSpeech({ ...CHOICE, sttBaseUrl: `${url}/v1`, ...choice }, process.env);
    if (!loaded) throw new Error("The agent has neither ears nor a mouth");
    started.defer(() => loaded.close());
    const engines = {
      ...(wrap ? wrapped(loaded, wrap) : loaded),
      ...(stt && { stt }),
      endOfTurnModel,
      usesPlugins: true,
    };
    const agent = await TestAgent.start({
      ...options,
      speech: { engines, settings: { ...voiceSchema.parse({}), ...settings } },
    });
    started.use(agent);
    return new VoiceAgent(agent, recognizer, started.move());
  }

  /** Sets the recognizer's result for everything it hears from now on. */
  understand(text: string, onAsked: () => void = () => {}): void {
    this.#recognizer.reset();
    this.#recognizer.on({ endpoint: "transcription" }, () => {
      onAsked();
      return { transcription: { text } };
    });
  }

  /** Makes the recognizer answer with an error from now on. */
  failToUnderstand(): void {
    this.#recognizer.reset();
    this.#recognizer.on({ endpoint: "transcription" }, { error: { message: "No", type: "server_error" }, status: 500 });
  }

  /** A client with a microphone. Resolves once the client can hear the agent. */
  async speaker(identity: string, configuration: Parameters<TestAgent["client"]>[1] = {}): Promise<Speaker> {
    return this.#hear(await this.agent.client(identity, configuration));
  }

  /**
   * A caller who joined through LiveKit's SIP service: with a microphone and a loudspeaker, and without data messages.
   */
  async caller(identity: string): Promise<Speaker> {
    const client = await Participant.join(this.agent.roomName, identity, { kind: "sip" });
    this.#cleanup.defer(() => client.leave());
    return this.#hear(client);
  }

  async #hear(client: Participant): Promise<Speaker> {
    const speaker = new Speaker(client);
    this.#cleanup.defer(() => speaker.close());
    await speaker.publish();
    await speaker.untilConnected();
    await this.#untilSubscribed(client);
    return speaker;
  }

  /**
   * Resolves once the agent has subscribed to the client's track, and knows that somebody has subscribed to its own.
   */
  async #untilSubscribed({ room: { localParticipant } }: Participant): Promise<void> {
    const { room } = this.agent;
    const ownTracks = () => [...(room.localParticipant?.trackPublications.values() ?? [])];
    const clientTracks = () => [
      ...(room.remoteParticipants.get(localParticipant?.identity ?? "")?.trackPublications.values() ?? []),
    ];
    await vi.waitUntil(() => ownTracks().length > 0 && clientTracks().some(({ track }) => track), {
      timeout: 10_000,
      interval: 10,
    });
    await Promise.all(ownTracks().map((publication) => publication.waitForSubscription()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup.disposeAsync();
  }
}

function wrapped(speech: Speech, wrap: NonNullable<VoiceAgentOptions["wrap"]>): Speech {
  return {
    ...speech,
    synthesizer: speech.synthesizer && wrap(speech.synthesizer),
    voiceNamed: async (name) => {
      const voice = await speech.voiceNamed(name);
      return voice && wrap(voice, name);
    },
  };
}
