import { expect, test } from "vitest";
import { reply, text } from "../support/model-server/step.ts";
import { WatchedTalk } from "./watched-talk.ts";

test.each(["hang", "refuse", "down"] as const)(
  "an endpoint that is out of order (%s) changes nothing in a turn and holds up the end for 2 s at most",
  async (fault) => {
    await using talk = await WatchedTalk.start();
    const { agent, receiver } = talk;
    if (fault === "down") await receiver[Symbol.asyncDispose]();
    else receiver.behaviour = fault;
    const user = await agent.client("user");
    agent.model.script([reply([text("One.")]), reply([text("Two.")])]);

    const startedAt = performance.now();
    expect(await user.answerTo(await user.say("a"))).toBe("One.");
    expect(await user.answerTo(await user.say("b"))).toBe("Two.");
    const turnsMs = performance.now() - startedAt;
    await agent.leave();
    const closingAt = performance.now();
    await talk.end();

    expect(turnsMs).toBeLessThan(5_000);
    expect(performance.now() - closingAt).toBeLessThan(2_000);
    expect(receiver.spans).toEqual([]);
  },
);
