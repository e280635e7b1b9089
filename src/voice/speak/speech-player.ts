import { ReadableStream, type ReadableStreamDefaultController } from "node:stream/web";
import { llm, type voice } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import { SpokenPieces } from "../../session/answer/first-clause.ts";
import { countLetters } from "../../conversation/truncate-to-played.ts";
import { clearChatHistory } from "../../livekit/agent-session.ts";
import type { Playback, Played, Player } from "./player.ts";
import { piecesOf, type Synthesizer } from "../providers/synthesizer.ts";
import { Captions } from "./captions.ts";
import { SpokenMarkup } from "./spoken-markup.ts";
import type { SpokenPart } from "./spoken-part.ts";
import type { SpokenWords } from "./spoken-words.ts";

interface SpeechPlayerOptions {
  readonly session: voice.AgentSession;
  readonly synthesizer: Synthesizer | undefined;
  readonly words: SpokenWords;
  /** How many seconds of the current audio have been played. */
  readonly playedSeconds: () => number;
  readonly onProblem: (error: unknown) => void;
}

/** How often the playback position is checked. */
const CHECK_EVERY_MS = 50;
const ASKS = /[?？؟]/u;

/** The part that AgentSession is playing. */
interface Current {
  readonly part: SpokenPart;
  readonly ended: AbortController;
  handle: voice.SpeechHandle | undefined;
  isUnspoken: boolean;
  /** Its sentences, with the times of their audio. */
  readonly captions: Captions;
  /** How many seconds of the audio had been played when playback ended. */
  playedSeconds: number | undefined;
}

/** Plays each part as one reply of an AgentSession, which reads the part's text from `llmNode`. */
export class SpeechPlayer implements Player {
  readonly #options: SpeechPlayerOptions;
  #current: Current | undefined;
  #isInterruptible = true;

  constructor(options: SpeechPlayerOptions) {
    this.#options = options;
  }

  /** Whether the current part cannot be interrupted by participants. */
  get isHeldBack(): boolean {
    return !this.#isInterruptible && this.#current !== undefined;
  }

  get isPlaying(): boolean {
    return this.#current !== undefined;
  }

  /** Whether the agent is saying something that is not a question. An aside may be one, whatever its punctuation. */
  get isTelling(): boolean {
    const current = this.#current;
    const played = this.#options.playedSeconds();
    if (!current || current.part.kind === "aside" || played === 0) return false;
    const { part, captions } = current;
    const heard = captions.times.playedUntil(played);
    return !ASKS.test(part.text.slice(Math.max(0, heard.trimEnd().length - 1)));
  }

  setInterruptible(isInterruptible: boolean): void {
    this.#isInterruptible = isInterruptible;
    const handle = this.#current?.handle;
    if (handle && !handle.interrupted) handle.allowInterruptions = isInterruptible;
  }

  play(part: SpokenPart): Playback {
    const current: Current = {
      part,
      ended: new AbortController(),
      handle: undefined,
      isUnspoken: false,
      captions: new Captions(),
      playedSeconds: undefined,
    };
    this.#current = current;
    let isCut = false;
    const looking = setInterval(() => this.#look(current), CHECK_EVERY_MS);
    const done = this.#play(current)
      .catch((error: unknown): Played => {
        this.#options.onProblem(error);
        return { end: "unspoken", heard: "" };
      })
      .then((played) => {
        current.ended.abort();
        clearInterval(looking);
        current.captions.close();
        if (this.#current === current) this.#current = undefined;
        return isCut && played.end === "interrupted" ? ({ ...played, end: "cut" } as const) : played;
      });
    const cut = () => {
      isCut = true;
      part.end();
      current.captions.close();
      current.handle?.interrupt(true);
    };
    return { done, cut };
  }

  #look({ captions, part, playedSeconds }: Current): void {
    if (playedSeconds !== undefined) return;
    const words = captions.advance(this.#options.playedSeconds());
    if (words !== "") part.markPlayed(words);
  }

  /** For `llmNode`: returns the text of the current part. */
  nextText(): ReadableStream<string> {
    return this.#current?.part.stream ?? emptyStream();
  }

  /** For `transcriptionNode`: returns the captions of the current part. */
  captions(text: ReadableStream<string | voice.TimedString>): ReadableStream<string | voice.TimedString> {
    const captions = this.#current?.captions;
    if (!captions) return text;
    // AgentSession stops writing text if nobody reads this stream.
    void text.pipeTo(new WritableStream()).catch(() => {});
    return captions.stream;
  }

  /** Records the position at which the current part's audio ended. */
  handlePlaybackFinished({ playbackPosition }: voice.PlaybackFinishedEvent): void {
    if (this.#current) this.#current.playedSeconds = playbackPosition;
  }

  /**
   * For `ttsNode`: returns the audio. Closes early if no audio can be generated, because after an error AgentSession
   * would wait for 10 s.
   */
  synthesize(text: AsyncIterable<string>): ReadableStream<AudioFrame> {
    const current = this.#current;
    const { synthesizer, words, onProblem } = this.#options;
    if (!current || !synthesizer) return emptyStream();
    const { ended } = current;
    const pump = async (controller: ReadableStreamDefaultController<AudioFrame>) => {
      try {
        for await (const frame of speakPart(synthesizer, text, { ...current, words })) {
          if (ended.signal.aborted) return;
          controller.enqueue(frame);
        }
      } catch (error) {
        if (ended.signal.aborted) return;
        current.isUnspoken = true;
        // Close the captions. Otherwise, AgentSession would wait for the remaining sentences, which never begin because
        // they have no audio.
        current.captions.close();
        onProblem(error);
      } finally {
        current.captions.complete();
        if (!ended.signal.aborted) controller.close();
      }
    };
    return new ReadableStream({ start: (controller) => void pump(controller), cancel: () => ended.abort() });
  }

  async #play(current: Current): Promise<Played> {
    const { part } = current;
    const handle = this.#options.session.generateReply({
      chatCtx: llm.ChatContext.empty(),
      allowInterruptions: this.#isInterruptible,
    });
    current.handle = handle;
    const played = handle.waitForPlayout();
    // After an interruption, AgentSession cancels the text stream late, so end it here at once.
    const end = () => {
      part.end();
      current.captions.close();
    };
    void handle.waitIfNotInterrupted([played]).then(end, end);
    await played;
    clearChatHistory(this.#options.session);
    if (handle.interrupted) {
      const { captions, playedSeconds = 0 } = current;
      return { end: "interrupted", heard: captions.times.playedUntil(playedSeconds) };
    }
    return current.isUnspoken ? { end: "unspoken", heard: "" } : { end: "whole", heard: part.text };
  }
}

/**
 * Yields the audio of a part. The voice receives a piece (a sentence, or the first clause) once the piece is written and
 * the audio of the previous piece is complete.
 */
async function* speakPart(
  synthesizer: Synthesizer,
  text: AsyncIterable<string>,
  { part, ended, captions, words: spoken }: Current & { readonly words: SpokenWords },
): AsyncGenerator<AudioFrame> {
  const { language, voice: name } = part;
  const markup = new SpokenMarkup(language);
  const options = { language, voice: name, signal: ended.signal };
  for await (const piece of piecesIn(text, part)) {
    const words = await spoken.rewrite(await markup.write(piece), language);
    captions.times.begin(piece, words);
    if (words !== "")
      for await (const frame of synthesizer.speak(piecesOf(words), options)) {
        captions.times.add(frame);
        yield frame;
      }
    captions.times.end();
  }
  const rest = await spoken.rewrite(await markup.end(), language);
  if (rest !== "") yield* synthesizer.speak(piecesOf(rest), options);
}

async function* piecesIn(text: AsyncIterable<string>, part: SpokenPart): AsyncGenerator<string> {
  const pieces = new SpokenPieces(part.language);
  let letters = 0;
  for await (const written of text) {
    letters += countLetters(written);
    yield* pieces.write(written);
    if (!part.hasSentenceEndAfter(letters)) continue;
    const sentence = pieces.end();
    if (sentence !== "") yield sentence;
  }
  const rest = pieces.end();
  if (rest !== "") yield rest;
}

function emptyStream<Part>(): ReadableStream<Part> {
  return new ReadableStream({ start: (controller) => controller.close() });
}
