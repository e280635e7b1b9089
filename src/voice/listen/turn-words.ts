import type { AudioFrame } from "@livekit/rtc-node";
import { unawaited } from "../../lib/abortable.ts";

/** Longer audio is recognized piece by piece: recognizers repeat or lose words in it. */
const MAX_SECONDS_TOGETHER = 15;

type Recognize = (frames: readonly AudioFrame[]) => Promise<string>;

/** A piece that is being recognized. It changes the turn only if it is added. */
export interface PieceRecognition {
  readonly add: () => Promise<string>;
}

/**
 * The words of one user turn. A participant who pauses speaks several pieces. They are recognized together, because a
 * recognizer needs the words around a pause: of "Fail better", the piece "Fail" alone was understood as "Fell".
 */
export class TurnWords {
  /** The text of the pieces that are not recognized again. */
  #fixed = "";
  #pieces: readonly AudioFrame[] = [];
  #text = "";

  /**
   * Returns the words of the turn up to and including a piece that is still being spoken, or undefined if they were not
   * recognized. Changes nothing.
   */
  async peek(
    piece: readonly AudioFrame[],
    recognize: (frames: readonly AudioFrame[]) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const { before, frames } = this.#with(piece);
    const text = await recognize(frames);
    return text === undefined ? undefined : joined(before, text);
  }

  /** Adds a piece, and returns all words of the turn. A piece without words changes nothing. */
  async add(piece: readonly AudioFrame[], recognize: Recognize): Promise<string> {
    return this.prepare(piece, recognize).add();
  }

  /** Starts to recognize a piece that may be complete. */
  prepare(piece: readonly AudioFrame[], recognize: Recognize): PieceRecognition {
    const started = this.#pieces;
    const { before, frames } = this.#with(piece);
    const recognized = unawaited(recognize(frames));
    return {
      add: async () => {
        const text = await recognized;
        // If the turn ended or its words were fixed meanwhile, `text` includes old words. Recognize the piece alone.
        if (started !== this.#pieces) return this.add(piece, recognize);
        if (text === "") return joined(this.#fixed, this.#text);
        this.#fixed = before;
        this.#pieces = frames;
        this.#text = text;
        return joined(before, text);
      },
    };
  }

  /** Fixes the words so far: they are not recognized again. Call this when another participant speaks. */
  fix(): void {
    this.#fixed = joined(this.#fixed, this.#text);
    this.#pieces = [];
    this.#text = "";
  }

  /** Call this when the turn has ended. */
  clear(): void {
    this.#fixed = "";
    this.#pieces = [];
    this.#text = "";
  }

  /** Returns the frames to recognize for a piece, and the text before them. */
  #with(piece: readonly AudioFrame[]): { readonly before: string; readonly frames: readonly AudioFrame[] } {
    const together = [...this.#pieces, ...piece];
    if (secondsOf(together) <= MAX_SECONDS_TOGETHER) return { before: this.#fixed, frames: together };
    return { before: joined(this.#fixed, this.#text), frames: piece };
  }
}

function secondsOf(frames: readonly AudioFrame[]): number {
  return frames.reduce((sum, { samplesPerChannel, sampleRate }) => sum + samplesPerChannel / sampleRate, 0);
}

function joined(before: string, text: string): string {
  return [before, text].filter(Boolean).join(" ");
}
