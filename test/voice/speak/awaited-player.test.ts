import { expect, test } from "vitest";
import { AwaitedPlayer } from "../../../src/voice/speak/awaited-player.ts";
import { type Played, type Player } from "../../../src/voice/speak/player.ts";
import { Utterance } from "../../../src/voice/speak/spoken-part.ts";

const utterance = () => new Utterance({ kind: "answer", language: undefined, onHeard: () => {} });

test("what is cut before there is a player is never played", async () => {
  const player = Promise.withResolvers<Player>();
  const { done, cut } = new AwaitedPlayer(player.promise).play(utterance());

  cut();
  player.resolve({
    play: () => {
      throw new Error("played");
    },
  });

  expect(await done).toEqual({ end: "cut", heard: "" });
});

test("without a player it is unspoken", async () => {
  const { done } = new AwaitedPlayer(Promise.resolve(undefined)).play(utterance());

  expect(await done).toEqual({ end: "unspoken", heard: "" });
});

test("the player's own playback is what ends it, and what is cut then", async () => {
  const over = Promise.withResolvers<Played>();
  const begun = Promise.withResolvers<void>();
  const player: Player = {
    play: () => {
      begun.resolve();
      return { done: over.promise, cut: () => over.resolve({ end: "cut", heard: "One" }) };
    },
  };
  const { done, cut } = new AwaitedPlayer(Promise.resolve(player)).play(utterance());
  await begun.promise;

  cut();

  expect(await done).toEqual({ end: "cut", heard: "One" });
});
