import { ReadableStream, type ReadableStreamDefaultController } from "node:stream/web";
import { llm, type voice } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import { forgetWhatWasSaid } from "../../livekit/agent-session.ts";
import type { Playback, Played, Player } from "./player.ts";
import type { Synthesizer } from "../providers/synthesizer.ts";
import type { SpokenPart } from "./spoken-part.ts";

interface SpeechPlayerOptions {
  readonly session: voice.AgentSession;
  readonly synthesizer: Synthesizer | undefined;
  readonly onProblem: (error: unknown) => void;
}

/** The part that AgentSession is playing. */
interface Current {
  readonly part: SpokenPart;
  readonly over: AbortController;
  handle: voice.SpeechHandle | undefined;
  isUnspoken: boolean;
}

/** Plays each part as one reply of an AgentSession, which takes the part's text from `llmNode`. */
export class SpeechPlayer implements Player {
  readonly #options: SpeechPlayerOptions;
  #current: Current | undefined;
  #isInterruptible = true;

  constructor(options: SpeechPlayerOptions) {
    this.#options = options;
  }

  /** Whether something is playing that participants cannot interrupt. */
  get isHeldBack(): boolean {
    return !this.#isInterruptible && this.#current !== undefined;
  }

  get isPlaying(): boolean {
    return this.#current !== undefined;
  }

  setInterruptible(isInterruptible: boolean): void {
    this.#isInterruptible = isInterruptible;
    const handle = this.#current?.handle;
    if (handle && !handle.interrupted) handle.allowInterruptions = isInterruptible;
  }

  play(part: SpokenPart): Playback {
    const current: Current = { part, over: new AbortController(), handle: undefined, isUnspoken: false };
    this.#current = current;
    let isCut = false;
    const done = this.#play(current)
      .catch((error: unknown): Played => {
        this.#options.onProblem(error);
        return { end: "unspoken", heard: "" };
      })
      .then((played) => {
        current.over.abort();
        if (this.#current === current) this.#current = undefined;
        return isCut && played.end === "interrupted" ? ({ ...played, end: "cut" } as const) : played;
      });
    const cut = () => {
      isCut = true;
      part.end();
      current.handle?.interrupt(true);
    };
    return { done, cut };
  }

  /** For `llmNode`: the text of the part that is playing. */
  nextText(): ReadableStream<string> {
    return this.#current?.part.stream ?? emptyStream();
  }

  /** For `ttsNode`. Closes early when no sound can be made: after an error AgentSession would wait for 10 s. */
  synthesize(text: AsyncIterable<string>): ReadableStream<AudioFrame> {
    const current = this.#current;
    const { synthesizer, onProblem } = this.#options;
    if (!current || !synthesizer) return emptyStream();
    const { over, part } = current;
    const pump = async (controller: ReadableStreamDefaultController<AudioFrame>) => {
      try {
        const frames = synthesizer.speak(text, { language: part.language, voice: part.voice, signal: over.signal });
        for await (const frame of frames) {
          if (over.signal.aborted) return;
          controller.enqueue(frame);
        }
      } catch (error) {
        if (over.signal.aborted) return;
        current.isUnspoken = true;
        onProblem(error);
      } finally {
        if (!over.signal.aborted) controller.close();
      }
    };
    return new ReadableStream({ start: (controller) => void pump(controller), cancel: () => over.abort() });
  }

  /** A text output for AgentSession, which writes words to it as they are played. */
  readonly words = {
    captureText: async (text: string | voice.TimedString): Promise<void> => {
      this.#current?.part.hear(typeof text === "string" ? text : text.text);
    },
    flush: (): void => {},
  };

  async #play(current: Current): Promise<Played> {
    const { part } = current;
    const handle = this.#options.session.generateReply({
      chatCtx: llm.ChatContext.empty(),
      allowInterruptions: this.#isInterruptible,
    });
    current.handle = handle;
    const played = handle.waitForPlayout();
    // After an interruption AgentSession cancels the text stream late; this ends it at once.
    void handle.waitIfNotInterrupted([played]).then(
      () => part.end(),
      () => part.end(),
    );
    await played;
    forgetWhatWasSaid(this.#options.session);
    if (handle.interrupted) return { end: "interrupted", heard: heardOf(handle) };
    return current.isUnspoken ? { end: "unspoken", heard: "" } : { end: "whole", heard: part.text };
  }
}

function heardOf({ chatItems }: voice.SpeechHandle): string {
  return chatItems
    .map((item) => (item.type === "message" && item.role === "assistant" ? (item.textContent ?? "") : ""))
    .join("");
}

function emptyStream<Part>(): ReadableStream<Part> {
  return new ReadableStream({ start: (controller) => controller.close() });
}
