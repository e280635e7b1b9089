import { expect, test, vi } from "vitest";
import type { Message } from "../../../src/protocol/messages/messages.ts";
import { LateOutcomes } from "../../../src/session/turns/late-outcomes.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { callOf } from "../../support/call.ts";
import { decode, encode, fakeParticipant, FakeSession } from "../../support/doubles/fake-session.ts";

const STOPPING = "The worker is stopping: send the message again once another agent has joined";

test("a session that closes leaves waiting messages to the next worker; anything else that waited, or arrives later, must be sent again", async () => {
  const sent: Message[] = [];
  const work = Promise.withResolvers<string>();
  const fake = new FakeSession({
    think: (history) => (history.length === 1 ? { uses: [{ name: "work" }] } : { text: "Done." }),
    publish: (bytes) => Promise.resolve(void sent.push(decode(bytes).message)),
    tools: { work: defineTool({ description: "W.", input: { type: "object" }, run: () => work.promise }) },
  });
  const errors = () => sent.flatMap(({ type, body }) => (type === "error_message" ? [body] : []));
  const from = fakeParticipant("user");
  let stanza = 0;
  const say = (message: Message) => fake.session.handle({ type: "packet", from, bytes: encode(++stanza, message) });
  say({ type: "user_message", body: { id: "one", content: "Work" } });
  await vi.waitUntil(() => sent.some(({ type }) => type === "tool_use_request"));
  say({ type: "user_message", body: { id: "two", content: "And then?" } });
  say({ type: "control_variation", body: { targetId: "one", mode: "regenerate" } });

  const closed = fake.session.close(10_000);
  say({ type: "user_message", body: { id: "three", content: "Still there?" } });
  await vi.waitUntil(() => errors().length === 2);
  const refusals = errors().map(({ code, message, originatingId }) => ({ code, message, originatingId }));
  expect(refusals).toEqual(["one", "three"].map((originatingId) => ({ code: 503, message: STOPPING, originatingId })));

  // The message is not acknowledged, even when it is repeated: its sender keeps it for the next worker.
  fake.session.handle({
    type: "packet",
    from,
    bytes: encode(stanza, { type: "user_message", body: { id: "three", content: "Still there?" } }),
  });
  expect(errors().map(({ retryAfterMs }) => retryAfterMs)).toEqual([undefined, 1_000]);

  work.resolve("worked");
  await closed;
  const acknowledged = sent.flatMap(({ type, body }) =>
    type === "acknowledgement" ? [body.acknowledgedStanzaId] : [],
  );
  expect(acknowledged.toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  expect([...fake.recorder.turns.values()].map(({ state }) => state)).toEqual(["completed"]);
  expect(fake.recorder.kept).toEqual(["one", "two"]);
});

test("an outcome that arrives after the session has closed starts no turn", async () => {
  const begun: unknown[] = [];
  const outcomes = new LateOutcomes({
    isPause: () => true,
    untilQuiet: () => Promise.resolve(),
    begin: (turn) => begun.push(turn),
  });
  outcomes.close();
  outcomes.add({ call: callOf(), answer: { content: "one cake", isError: false }, onResult: "speak" });
  await new Promise((resolve) => setImmediate(resolve));

  expect(begun).toEqual([]);
});
