import { type SpokenPart } from "./spoken-part.ts";

/** Makes sound of what the agent says, one part at a time. */
export interface Player {
  readonly play: (part: SpokenPart) => Playback;
}

export interface Playback {
  /** Never rejects. */
  readonly done: Promise<Played>;
  /** Ends it, also in the middle of a word. */
  readonly cut: () => void;
}

export interface Played {
  /** whole · cut by us · interrupted by the participant · unspoken: no sound could be made of it */
  readonly end: "whole" | "cut" | "interrupted" | "unspoken";
  /** What of the text was heard, when it was not whole. */
  readonly heard: string;
}

/** Plays on a player that is still on its way. When there will be none, what it was given is unspoken. */
export class AwaitedPlayer implements Player {
  readonly #player: Promise<Player | undefined>;

  /** @param player must not reject */
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
