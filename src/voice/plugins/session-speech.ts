import type { stt, tts } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import type { Logger } from "pino";
import type { Listen, OneOrMore, Speak, VoiceSession } from "../../agent/plugins/speech-plugins.ts";
import { AppError } from "../../errors/app-error.ts";
import { abortable } from "../../lib/abortable.ts";
import { pluginName } from "../providers/plugin-error.ts";
import { PluginSynthesizer } from "../providers/plugin-synthesizer.ts";
import type { Speech } from "../providers/speech-choice.ts";
import type { SpeakOptions, Synthesizer } from "../providers/synthesizer.ts";
import { createPlugin, type PluginUse } from "./check-plugin.ts";
import { FallbackRecognizer } from "./fallback-recognizer.ts";
import { FallbackVoice } from "./fallback-voice.ts";
import { SteadyRecognizer } from "./steady-recognizer.ts";

/** How long a plugin may take to close. */
const CLOSED_WITHIN_MS = 2_000;

/** The fields of `voice` that select plugins. */
export interface PluginFields {
  readonly listen?: OneOrMore<Listen>;
  readonly speak?: OneOrMore<Speak>;
}

interface SessionSpeechOptions {
  /** What all sessions of this process share. */
  readonly speech: Speech;
  /** `voice` of parley.config.ts. */
  readonly config: PluginFields;
  /** `voice` of the session's current agent. */
  readonly agent: () => PluginFields;
  /** Whether an agent that may serve the session has its own plugins. */
  readonly agentsHave: (use: PluginUse) => boolean;
  /** Resolves once the session is open. */
  readonly session: () => Promise<VoiceSession>;
  readonly logger: Logger;
}

type NonEmpty<Item> = readonly [Item, ...Item[]];

/**
 * The recognizer and the voices of one session: the plugins of its agent, or else those of parley.config.ts, or else the
 * providers of STT and TTS. Creates plugins when they are first needed, and closes them with the session. A plugin that
 * fails is named in the log, and the session continues without it.
 */
export class SessionSpeech {
  readonly #options: SessionSpeechOptions;
  readonly #opened: (stt.STT | tts.TTS)[] = [];
  readonly #voices = new Map<OneOrMore<Speak>, Promise<Synthesizer | undefined>>();
  #isClosed = false;

  constructor(options: SessionSpeechOptions) {
    this.#options = options;
  }

  get listens(): boolean {
    return this.#mayUse("listen") || this.#options.speech.stt !== undefined;
  }

  /** Speaks with the voice named in the options, or else with the default voice. Undefined if the agent doesn't speak. */
  get synthesizer(): Synthesizer | undefined {
    const { synthesizer } = this.#options.speech;
    if (!this.#mayUse("speak") && !synthesizer) return undefined;
    return {
      speak: (text, options) => this.#speak(text, options),
      warm: () => synthesizer?.warm?.(),
      close: async () => {},
    };
  }

  /** Creates the recognizer. Resolves to undefined if there is none, or none can be created. Never rejects. */
  async openRecognizer(): Promise<stt.STT | undefined> {
    const { speech, config, agent } = this.#options;
    if (!this.#mayUse("listen")) return speech.stt && steady([speech.stt]);
    // The agent is known once the session is open.
    const session = await this.#options.session();
    const create = agent().listen ?? config.listen;
    if (!create) return speech.stt && steady([speech.stt]);
    const recognizers = await this.#open("listen", create, session);
    const streaming = recognizers[0]?.capabilities.streaming;
    const fitting = recognizers.filter(({ capabilities }) => capabilities.streaming === streaming);
    for (const other of recognizers.filter((each) => !fitting.includes(each))) {
      const problem = `${pluginName(other)} is not used: a list can't mix plugins that stream with plugins that don't`;
      this.#options.logger.error({ problem }, "recognizer failed to start");
    }
    return isNonEmpty(fitting) ? this.#combine(fitting) : undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#opened.splice(0).map((plugin) => this.#close(plugin)));
  }

  async #close(plugin: stt.STT | tts.TTS): Promise<void> {
    try {
      await abortable(plugin.close(), AbortSignal.timeout(CLOSED_WITHIN_MS));
    } catch (error) {
      this.#options.logger.warn({ plugin: pluginName(plugin), error }, "closing speech plugin failed");
    }
  }

  #mayUse(use: PluginUse): boolean {
    const { speech, config, agentsHave } = this.#options;
    return speech.usesPlugins === true && (config[use] !== undefined || agentsHave(use));
  }

  #combine(recognizers: NonEmpty<stt.STT>): stt.STT {
    const [first, second] = recognizers;
    if (first.capabilities.streaming || !second) return steady(recognizers);
    return new FallbackRecognizer(recognizers, (error) =>
      this.#warn("recognizer failed, the next one is asked", error),
    );
  }

  async *#speak(text: AsyncIterable<string>, options: SpeakOptions): AsyncGenerator<AudioFrame> {
    const voice = await this.#voiceOf(options.voice);
    if (!voice) throw new AppError("unavailable", "The agent's voice could not be created");
    yield* voice.speak(text, options);
  }

  async #voiceOf(choice: SpeakOptions["voice"]): Promise<Synthesizer | undefined> {
    const { speech, config } = this.#options;
    const ownPlugins = typeof choice === "string" ? undefined : choice;
    const create = this.#mayUse("speak") ? (ownPlugins ?? config.speak) : undefined;
    if (create) {
      const opening = this.#voices.get(create) ?? this.#openVoice(create);
      this.#voices.set(create, opening);
      return opening;
    }
    const named = typeof choice === "string" ? await speech.voiceNamed(choice) : undefined;
    return named ?? speech.synthesizer;
  }

  async #openVoice(create: OneOrMore<Speak>): Promise<Synthesizer | undefined> {
    const plugins = await this.#open("speak", create, await this.#options.session());
    const [first, ...others] = plugins.map((plugin) => new PluginSynthesizer(plugin));
    if (!first || others.length === 0) return first;
    return new FallbackVoice([first, ...others], (error) => this.#warn("voice failed, the next one continues", error));
  }

  async #open<Use extends PluginUse>(use: Use, create: NonNullable<PluginFields[Use]>, session: VoiceSession) {
    const { logger } = this.#options;
    const creators = [create].flat() as (Listen | Speak)[];
    const opened = await Promise.all(
      creators.map(async (each) => {
        try {
          return await this.#create(use, each, session);
        } catch (error) {
          const problem = use === "listen" ? "recognizer failed to start" : "voice failed to start";
          logger.error({ agent: session.agent, error }, problem);
          return undefined;
        }
      }),
    );
    return opened.filter((plugin) => plugin !== undefined);
  }

  async #create<Use extends PluginUse>(use: Use, create: Listen | Speak, session: VoiceSession) {
    const plugin = await createPlugin(use, () => create(session));
    this.#opened.push(plugin);
    if (this.#isClosed) await this.close();
    const { agent, logger } = this.#options;
    logger.info(
      {
        plugin: pluginName(plugin),
        streaming: plugin.capabilities.streaming,
        ...("sampleRate" in plugin && { sampleRate: plugin.sampleRate }),
        from: agent()[use] ? `agent ${session.agent}` : "parley.config.ts",
      },
      use === "listen" ? "recognizer created" : "voice created",
    );
    return plugin;
  }

  #warn(message: string, error: unknown): void {
    this.#options.logger.warn({ error }, message);
  }
}

function steady(recognizers: NonEmpty<stt.STT>): stt.STT {
  return recognizers[0].capabilities.streaming ? new SteadyRecognizer(recognizers) : recognizers[0];
}

function isNonEmpty<Item>(items: readonly Item[]): items is NonEmpty<Item> {
  return items.length > 0;
}
