import { beforeAll, expect, test } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import type { Synthesizer } from "../../src/voice/providers/synthesizer.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

beforeAll(() => warmUp("Hello there."));

test("speakable changes what the voice says, and neither captions, nor the record, nor what counts as heard", async () => {
  const voiced: string[] = [];
  const wrap = (voice: Synthesizer): Synthesizer => ({
    speak: async function* (words, options) {
      async function* recordedPieces() {
        for await (const piece of words) {
          voiced.push(piece);
          yield piece;
        }
      }
      yield* voice.speak(recordedPieces(), options);
    },
    close: () => voice.close(),
  });
  const speakable = (said: string) => said.replace(/\b[A-Z]{2}\d+\b/gu, (code) => code.replaceAll(/.(?!$)/gu, "$& "));
  await using voice = await VoiceAgent.start({ settings: { speakable }, wrap });
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([text("Your flight is LH457. It is **on time**.")])]);

  const answer = await user.client.answerTo(await user.client.say("When?"));

  expect(answer).toBe("Your flight is LH457. It is **on time**.");
  expect(voiced.join(" ")).toBe("Your flight is L H 4 5 7. It is on time.");
  await user.untilSilence();
  const spoken = () => voice.agent.sql`select heard from turns where spoken_at is not null`;
  await expect.poll(spoken).toEqual([{ heard: null }]);
  expect(await voice.agent.sql`select text_content from turn_blocks`).toEqual([{ text_content: answer }]);
});
