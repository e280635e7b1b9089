import { setTimeout as sleep } from "node:timers/promises";
import { stt } from "@livekit/agents";
import { beforeAll, expect, test } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

const ANSWER = "The sun is out in the north. It rains in the south. And there is fog in the west.";
const QUESTION = "Hold on, I would like to know what the weather is going to be like tomorrow in the east.";

const COUGH = "Hm.";

beforeAll(() => warmUp(QUESTION, COUGH));

/** A slow recognizer of whole utterances. It returns words only for the first utterance. */
class LateRecognizer extends stt.STT {
  readonly label = "late";
  #asked = 0;

  constructor() {
    super({ streaming: false, interimResults: false });
  }

  protected override async _recognize(): Promise<stt.SpeechEvent> {
    const text = this.#asked++ === 0 ? "Delete all of it." : "";
    await sleep(1_500);
    const alternative = { text, language: "en", startTime: 0, endTime: 0, confidence: 1 } as stt.SpeechData;
    return { type: stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives: [alternative] };
  }

  override stream(): never {
    throw new Error("It has no streams");
  }
}

/**
 * A streaming recognizer. It returns words for its first sound long after that sound has ended, and none for later
 * sounds.
 */
class LateStreams extends stt.STT {
  readonly label = "late streams";
  hasHeard = false;

  constructor() {
    super({ streaming: true, interimResults: false });
  }

  protected override async _recognize(): Promise<never> {
    throw new Error("It has only streams");
  }

  override stream(): stt.SpeechStream {
    return new LateStream(this);
  }
}

class LateStream extends stt.SpeechStream {
  readonly label = "late stream";
  readonly #owner: LateStreams;

  constructor(owner: LateStreams) {
    super(owner);
    this.#owner = owner;
  }

  protected override async run(): Promise<void> {
    for await (const frame of this.input) {
      if (typeof frame === "symbol" || this.#owner.hasHeard || !frame.data.some((one) => Math.abs(one) > 1_000))
        continue;
      this.#owner.hasHeard = true;
      void this.#answer();
    }
  }

  async #answer(): Promise<void> {
    await sleep(LATE_AFTER_MS);
    const alternative = { text: "Yes.", language: "en", startTime: 0, endTime: 0, confidence: 1 } as stt.SpeechData;
    this.queue.put({ type: stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives: [alternative] });
  }
}
const LATE_AFTER_MS = 5_500;

test("a participant who only reads gets the whole answer after the last listener has left", async () => {
  await using voice = await VoiceAgent.start();
  const reader = await voice.agent.client("reader");
  const listener = await voice.speaker("listener");
  voice.agent.model.script(() => reply([text(ANSWER)]));
  const id = await reader.say("How is the weather?");
  await listener.untilSound();
  await listener.close();
  await listener.client.leave();
  expect(await reader.answerTo(id, 20_000)).toBe(ANSWER);
  expect(await reader.answerTo(await reader.say("And now?"), 20_000)).toBe(ANSWER);
});

test("anyone who speaks over an answer interrupts it, not only the participant who asked", async () => {
  await using voice = await VoiceAgent.start();
  const asker = await voice.speaker("asker");
  const other = await voice.speaker("other");
  voice.agent.model.script([reply([text(`${ANSWER} ${ANSWER}`)]), reply([text("Windy.")])]);
  await asker.client.say("How is the weather?");
  await asker.untilSound();
  voice.understand("And in the east?");
  await other.say(QUESTION);
  await other.client.next("assistant_sentence", (sentence) => sentence.text === "Windy.", 15_000);
  const turns = await voice.agent.sql`
    select participant_identity as who, state, heard is not null as "isCut" from turns order by position`;
  expect(turns[0]).toEqual({ who: "asker", state: "completed", isCut: true });
  expect(turns[1]).toMatchObject({ who: "other" });
});

test("words belong to the participant who was heard saying them, however late they are recognized", async () => {
  await using voice = await VoiceAgent.start({ stt: new LateRecognizer() });
  const eve = await voice.speaker("eve");
  const ann = await voice.speaker("ann");
  voice.agent.model.script(() => reply([text("Done.")]));

  await eve.say(QUESTION);
  await sleep(700);
  await ann.say(COUGH);
  await eve.client.next("assistant_sentence", (sentence) => sentence.text === "Done.", 15_000);

  const turns = await voice.agent.sql`select participant_identity as who from turns`;
  expect(turns).toEqual([{ who: "eve" }]);
});

test("words that a streaming recognizer returns after another participant was heard still belong to the first one", async () => {
  await using voice = await VoiceAgent.start({ stt: new LateStreams() });
  const eve = await voice.speaker("eve");
  const ann = await voice.speaker("ann");
  voice.agent.model.script(() => reply([text("Done.")]));

  await eve.say(COUGH);
  await sleep(3_000);
  await ann.say(COUGH);
  await eve.client.next("assistant_sentence", (sentence) => sentence.text === "Done.", 15_000);

  const turns = await voice.agent.sql`select participant_identity as who from turns`;
  expect(turns).toEqual([{ who: "eve" }]);
});
