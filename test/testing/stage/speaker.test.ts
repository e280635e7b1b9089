import { expect, test } from "vitest";
import { SPEECH_RATE } from "../../../src/testing/stage/speaker.ts";
import { createId } from "../../../src/lib/id.ts";
import { Participant } from "../../support/participant.ts";
import { Speaker } from "../../support/speaker.ts";

test("a participant counts as talking until its last sound was sent, even if silence follows", async () => {
  await using client = await Participant.join(createId(), "user");
  const speaker = new Speaker(client);
  await speaker.publish();
  const tone = new Int16Array(SPEECH_RATE / 2).map((_, at) => 8_000 * Math.sin(at / 5));
  const speech = new Int16Array(2 * SPEECH_RATE);
  speech.set(tone);
  let isSaid = false;
  const said = speaker.play(speech).then(() => (isSaid = true));

  expect(speaker.isTalking).toBe(true);
  await expect.poll(() => speaker.isTalking, { interval: 10 }).toBe(false);
  expect(isSaid).toBe(false);
  await said;
  await speaker.close();
});
