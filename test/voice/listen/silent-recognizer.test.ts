import { stt } from "@livekit/agents";
import { beforeAll, expect, test } from "vitest";
import { secondsOf } from "../../support/speaker.ts";
import { VoiceAgent, warmUp } from "../../support/voice-agent.ts";

const QUESTION = "What time is it in the capital of France right now?";

beforeAll(() => warmUp(QUESTION));

/** A recognizer that listens all the time, as Deepgram's does, and never returns any text. */
class SilentRecognizer extends stt.STT {
  readonly label = "silent";

  constructor() {
    super({ streaming: true, interimResults: true });
  }

  protected override async _recognize(): Promise<stt.SpeechEvent> {
    throw new Error("It is not asked for an utterance");
  }

  override stream(): stt.SpeechStream {
    return new SilentStream(this);
  }
}

class SilentStream extends stt.SpeechStream {
  readonly label = "silent";
  framesHeard = 0;

  protected override async run(): Promise<void> {
    for await (const _ of this.input) this.framesHeard += 1;
  }
}

test("if a streaming recognizer hangs, long speech is reported as not understood", async () => {
  await using voice = await VoiceAgent.start({ stt: new SilentRecognizer() });
  const user = await voice.speaker("user");

  const { to } = await user.say(QUESTION);

  await user.untilSound(to);
  await user.untilSilence();
  const sorry = await secondsOf("Sorry, I did not hear that.");
  expect(Math.abs(user.secondsHeard(to) - sorry)).toBeLessThan(0.5);
  expect(voice.agent.model.requests).toEqual([]);
});
