import { setTimeout as sleep } from "node:timers/promises";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { SimulateScenarioKind } from "@livekit/rtc-node";
import { expect, inject, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { roomApi } from "../../support/attack.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { createToken, Participant } from "../../support/participant.ts";
import { announced, scriptOf } from "../../support/client-tool.ts";
import { lastContent } from "../../support/model-view.ts";

const KILLED_CLIENT = fileURLToPath(new URL("../../support/processes/killed-client.ts", import.meta.url));

test("F11: a client process that is killed during a call costs the call's own time", async () => {
  await using agent = await TestAgent.start();
  const watcher = await agent.client("watcher", { tools: [] });
  const token = await createToken(agent.roomName, "victim");
  const victim = spawn(process.execPath, [KILLED_CLIENT, inject("livekitUrl"), token], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  victim.stdout.on("data", (bytes: Buffer) => (output += bytes.toString()));
  const untilIt = async (says: string) => {
    await expect.poll(() => output, { timeout: 10_000 }).toContain(`${says}\n`);
  };
  try {
    await untilIt("ready");
    agent.model.script(scriptOf("scan"));
    const messageId = await watcher.say("Go");
    await untilIt("asked");
    victim.kill("SIGKILL");
    await watcher.answerTo(messageId);
    // LiveKit has not noticed yet that the client is gone, which takes 15 s.
    expect(agent.room.remoteParticipants.has("victim")).toBe(true);
    expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "timeout" }]);
  } finally {
    victim.kill("SIGKILL");
  }
});

test("F13: the same identity joins again, and the call and the session follow it", async () => {
  await using agent = await TestAgent.start();
  const first = await agent.client("user", { tools: [announced("scan")] });
  agent.model.script(scriptOf("scan"));
  await first.say("Go");
  const { id } = await first.next("tool_use_request");
  await using second = await Participant.join(agent.roomName, "user");
  await second.configure({ tools: [announced("scan")] });
  expect(await second.next("tool_use_request")).toMatchObject({ id });
  await second.answer(id, { success: true, result: { ok: 2 } });
  await second.next("assistant_sentence", ({ isFinal }) => isFinal);
  agent.model.script([reply([text("Again.")])]);
  expect(await second.answerTo(await second.say("And?"))).toBe("Again.");
  expect(await agent.calls()).toMatchObject([{ state: "success", result: { ok: 2 } }]);
});

test("F13: the first message after a second join counts, though its stanza number was used before", async () => {
  await using agent = await TestAgent.start();
  await using first = await Participant.join(agent.roomName, "user");
  agent.model.script(() => reply([text("Hello.")]));
  await first.answerTo(await first.say("One"));
  await using second = await Participant.join(agent.roomName, "user");
  expect(await second.answerTo(await second.say("Two"))).toBe("Hello.");
});

test("F14: a room that is deleted during a call ends everything, and the record is complete", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", { tools: [announced("scan")] });
  agent.model.script(scriptOf("scan"));
  await user.say("Go");
  await user.next("tool_use_request");
  await roomApi().deleteRoom(agent.roomName);
  await sleep(500);
  const startedAt = performance.now();
  await agent.leave();
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "outcome_unknown" }]);
  expect(await agent.sql`select state, error_code from turns`).toMatchObject([
    { state: "failed", error_code: "unavailable" },
  ]);
  const blocks = await agent.blocks();
  expect(blocks.map((block) => block.block_type)).toEqual(["tool_use", "tool_result"]);
});

// LiveKit does not say which client has sent which packet, and the worker cannot trust what a packet says about its
// sender. So both clients are asked to send again.
test("two data-only clients that join and speak at the same moment are asked to repeat it, and both are answered", async () => {
  await using agent = await TestAgent.start();
  agent.model.script(() => reply([text("Hello.")]));
  const join = (identity: string) => Participant.join(agent.roomName, identity, { canPublish: false });
  const clients = await Promise.all([join("one"), join("two")]);
  try {
    const ids = await Promise.all(clients.map((client) => client.say("Hi")));
    const answers = clients.map(async (client, index) => {
      const id = ids[index] ?? "";
      const isAnswered = () => client.all("start_answer").some(({ previousId }) => previousId === id);
      const isRefused = () => client.all("error_message").some(({ originatingId }) => originatingId === id);
      await client.until(() => isAnswered() || isRefused(), "an answer or an error");
      if (isRefused()) await client.say("Hi", id);
      return client.answerTo(id);
    });
    expect(await Promise.all(answers)).toEqual(["Hello.", "Hello."]);
    expect(agent.model.requests).toHaveLength(2);
  } finally {
    await Promise.all(clients.map((client) => client.leave()));
  }
});

test("two data-only clients that send their Configuration as a stream are both answered", async () => {
  await using agent = await TestAgent.start();
  agent.model.script(() => reply([text("Hello.")]));
  const join = (identity: string) => Participant.join(agent.roomName, identity, { canPublish: false });
  const clients = await Promise.all([join("one"), join("two")]);
  try {
    const ids = await Promise.all(
      clients.map(async (client) => {
        await client.configure({});
        return client.say("Hi");
      }),
    );
    const answers = await Promise.allSettled(clients.map((client, index) => client.answerTo(ids[index] ?? "")));
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  } finally {
    await Promise.all(clients.map((client) => client.leave()));
  }
});

test("a client that leaves before LiveKit has announced it is not waited for", async () => {
  await using agent = await TestAgent.start();
  await using watcher = await Participant.join(agent.roomName, "watcher");
  await watcher.configure({ tools: [] });
  const hasty = await Participant.join(agent.roomName, "hasty", { canPublish: false });
  await hasty.configure({ tools: [announced("scan", { scope: "room" })] });
  await hasty.leave();
  agent.model.script(() => reply([text("No tool.")]));
  const offered = async () => {
    expect(await watcher.answerTo(await watcher.say("Go"))).toBe("No tool.");
    return agent.model.requests.at(-1)?.body["tools"] ?? [];
  };
  await expect.poll(offered, { timeout: 10_000, interval: 500 }).toEqual([]);
});

for (const [what, scenario] of [
  ["signal reconnect", SimulateScenarioKind.SIMULATE_SIGNAL_RECONNECT],
  ["full reconnect", SimulateScenarioKind.SIMULATE_FULL_RECONNECT],
] as const) {
  test(`a ${what} of the client during a call changes nothing`, async () => {
    await using agent = await TestAgent.start();
    const user = await agent.client("user", { tools: [announced("scan")] });
    agent.model.script(scriptOf("scan"));
    const messageId = await user.say("Go");
    const { id } = await user.next("tool_use_request");
    const answer = { id, success: true, result: { ok: 1 } };
    let stanzaId = 0;
    await user.reconnect(scenario, async () => {
      stanzaId = await user.answer(id, answer);
    });
    await user.configure({ tools: [announced("scan")] });
    // A packet sent while the connection was down may be lost, so an unacknowledged result is sent again.
    const isTaken = user.all("acknowledgement").some((ack) => ack.acknowledgedStanzaId === stanzaId);
    if (!isTaken) await user.send({ type: "tool_use_result", body: answer }, { stanzaId });
    expect(await user.answerTo(messageId, 15_000)).toBe("Done.");
    expect(lastContent(agent)).toBe('{"ok":1}');
    expect(await agent.calls()).toMatchObject([{ state: "success", result: { ok: 1 } }]);
  }, 30_000);
}
