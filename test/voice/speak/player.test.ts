import { expect, test } from "vitest";
import { AwaitedPlayer, type Played, type Player } from "../../../src/voice/speak/player.ts";
import { SpokenPart } from "../../../src/voice/speak/spoken-part.ts";

const part = () => new SpokenPart({ kind: "answer", language: undefined, onPlayed: () => {} });

test("a part that is cut off before there is a player is never played", async () => {
  const player = Promise.withResolvers<Player>();
  const { done, cut } = new AwaitedPlayer(player.promise).play(part());

  cut();
  player.resolve({
    play: () => {
      throw new Error("played");
    },
  });

  expect(await done).toEqual({ end: "cut", heard: "" });
});

test("without a player a part counts as unspoken", async () => {
  const { done } = new AwaitedPlayer(Promise.resolve(undefined)).play(part());

  expect(await done).toEqual({ end: "unspoken", heard: "" });
});

test("the player's own playback determines when a part ends, and what was cut off", async () => {
  const over = Promise.withResolvers<Played>();
  const begun = Promise.withResolvers<void>();
  const player: Player = {
    play: () => {
      begun.resolve();
      return { done: over.promise, cut: () => over.resolve({ end: "cut", heard: "One" }) };
    },
  };
  const { done, cut } = new AwaitedPlayer(Promise.resolve(player)).play(part());
  await begun.promise;

  cut();

  expect(await done).toEqual({ end: "cut", heard: "One" });
});
