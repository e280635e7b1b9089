import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, scripted, startTalk } from "parley/testing";

// Tests the agent with a scripted model and a simulated device. Needs neither a key nor a server.
void test("a roll is shown on the participant's device", async () => {
  const talk = await startTalk({
    model: scripted([
      { use: { roll_dice: { sides: 6 } } },
      { use: { show_notification: { message: "Rolled" } } },
      "It is on your screen.",
    ]),
  });
  talk.device({ tools: { show_notification: answer() } });

  const turn = await talk.say("Roll a die and show it to me");
  await talk.close();

  assert.equal(turn.text, "It is on your screen.");
  assert.partialDeepStrictEqual(turn.calls, [
    { name: "roll_dice", ranOn: "server", state: "success" },
    { name: "show_notification", input: { message: "Rolled" }, ranOn: "client", state: "success" },
  ]);
});
