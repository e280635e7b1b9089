import { type Playback, type Played, type Player } from "./player.ts";
import { type Utterance } from "./spoken-part.ts";

/** Plays on a player that is still on its way. When there will be none, what it was given is unspoken. */
export class AwaitedPlayer implements Player {
  readonly #player: Promise<Player | undefined>;

  /** @param player must not reject */
  constructor(player: Promise<Player | undefined>) {
    this.#player = player;
  }

  play(utterance: Utterance): Playback {
    const early = Promise.withResolvers<"cut">();
    let playback: Playback | undefined;
    const begin = async (): Promise<Played> => {
      const player = await Promise.race([this.#player, early.promise]);
      if (player === "cut") return { end: "cut", heard: "" };
      if (!player) return { end: "unspoken", heard: "" };
      playback = player.play(utterance);
      return playback.done;
    };
    return { done: begin(), cut: () => (playback ? playback.cut() : early.resolve("cut")) };
  }
}
