import { beforeAll, expect, test, vi } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { loadRecognizer } from "../support/embedded-speech.ts";
import { forFile } from "../support/lifetimes.ts";
import { joined, recording, silence } from "../support/recordings.ts";
import type { Speaker } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

// The model is loaded once, which takes seconds on a busy machine.
vi.setConfig({ hookTimeout: 180_000 });

beforeAll(() => warmUp());

const recognizer = forFile(loadRecognizer);

async function startAgent() {
  const voice = await VoiceAgent.start({ stt: recognizer, settings: { turns: "manual" } });
  voice.agent.model.script(() => reply([text("Indeed.")]));
  return voice;
}

const call = ({ client }: Speaker, { agent }: VoiceAgent, method: string) =>
  client.room.localParticipant?.performRpc({
    destinationIdentity: agent.room.localParticipant?.identity ?? "",
    method,
    payload: "",
  });
const finals = ({ client }: Speaker) =>
  client.all("transcription").flatMap(({ text: said, final }) => (final ? [said] : []));

test("what is said between start_turn and end_turn is one message, however long the pauses in it", async () => {
  await using voice = await startAgent();
  const user = await voice.speaker("user");
  const [ten, seven] = [await recording("ten-of-clubs"), await recording("seven-of-clubs")];

  await user.play(joined(seven, silence(1_000)));
  await call(user, voice, "start_turn");
  await user.play(joined(ten, silence(2_500), seven));
  expect(finals(user)).toEqual([]);
  await call(user, voice, "end_turn");
  const playing = user.play(joined(silence(1_500), seven));
  const { id, text: said } = await user.client.next("transcription", ({ final }) => final);

  expect(said.toLowerCase().replaceAll(/[^a-z ]/gu, "")).toBe("ten of clubs seven of clubs");
  expect(await user.client.answerTo(id)).toBe("Indeed.");
  await playing;
  expect(await voice.agent.sql`select id from turns`).toHaveLength(1);
});

test("nothing is kept of a canceled turn", async () => {
  await using voice = await startAgent();
  const user = await voice.speaker("user");
  const [ten, seven] = [await recording("ten-of-clubs"), await recording("seven-of-clubs")];

  await call(user, voice, "start_turn");
  await user.play(joined(ten, silence(1_000)));
  await call(user, voice, "cancel_turn");
  await user.play(silence(1_000));
  await call(user, voice, "start_turn");
  await user.play(seven);
  await call(user, voice, "end_turn");
  await user.play(silence(1_000));
  const { text: said } = await user.client.next("transcription", ({ final }) => final);

  expect(said.toLowerCase().replaceAll(/[^a-z ]/gu, "")).toBe("seven of clubs");
});

test("only one participant speaks at a time, and one who leaves ends their turn", async () => {
  await using voice = await startAgent();
  const ann = await voice.speaker("ann");
  const bob = await voice.speaker("bob");

  await call(ann, voice, "start_turn");
  await expect(call(bob, voice, "start_turn")).rejects.toThrow("Another participant is speaking");
  await ann.client.leave();

  await expect
    .poll(() => call(bob, voice, "start_turn")?.then(() => "started", String), { timeout: 5_000 })
    .toBe("started");
});

test("a caller starts and ends a turn with the star key, which is part of no entry", async () => {
  await using voice = await startAgent();
  const caller = await voice.caller("caller");
  const watcher = await voice.agent.client("watcher");
  const [ten, seven] = [await recording("ten-of-clubs"), await recording("seven-of-clubs")];
  const press = (key: string) => caller.client.room.localParticipant?.publishDtmf("0123456789*#".indexOf(key), key);

  await caller.play(joined(seven, silence(500)));
  await press("*");
  await caller.play(joined(silence(300), ten, silence(1_500)));
  await press("*");
  const playing = caller.play(joined(silence(1_000), seven, silence(500)));
  const { text: said } = await watcher.next("transcription", ({ final }) => final);
  await playing;
  await press("7");
  await press("#");
  await watcher.next("transcription", ({ text: keys }) => keys.includes("keypad"));

  expect(said.toLowerCase().replaceAll(/[^a-z ]/gu, "")).toBe("ten of clubs");
  const inputs = await voice.agent.sql`select input from turns order by position`;
  expect(JSON.stringify(inputs)).toContain("[keypad] 7#");
  expect(JSON.stringify(inputs)).not.toContain("*");
  expect(inputs).toHaveLength(2);
});
