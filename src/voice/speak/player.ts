import type { SpokenPart } from "./spoken-part.ts";

/** Plays spoken parts, one at a time. */
export interface Player {
  readonly play: (part: SpokenPart) => Playback;
}

export interface Playback {
  /** Never rejects. */
  readonly done: Promise<Played>;
  /** Ends the playback, even in the middle of a word. */
  readonly cut: () => void;
}

export interface Played {
  /**
   * `whole`: played to the end. `cut`: ended by `cut`. `interrupted`: ended by a participant. `unspoken`: no audio
   * could be generated.
   */
  readonly end: "whole" | "cut" | "interrupted" | "unspoken";
  /** The text that was heard. */
  readonly heard: string;
}

/**
 * A player that waits for the actual player before it plays a part. If no player becomes available, parts end as
 * `unspoken`.
 */
export class AwaitedPlayer implements Player {
  readonly #player: Promise<Player | undefined>;

  /** @param player must not reject; resolves to undefined if no player becomes available */
  constructor(player: Promise<Player | undefined>) {
    this.#player = player;
  }

  play(part: SpokenPart): Playback {
    const early = Promise.withResolvers<"cut">();
    let playback: Playback | undefined;
    const begin = async (): Promise<Played> => {
      const player = await Promise.race([this.#player, early.promise]);
      if (player === "cut") return { end: "cut", heard: "" };
      if (!player) return { end: "unspoken", heard: "" };
      playback = player.play(part);
      return playback.done;
    };
    return { done: begin(), cut: () => (playback ? playback.cut() : early.resolve("cut")) };
  }
}
