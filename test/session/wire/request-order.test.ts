import { expect, test, vi } from "vitest";
import type { Message } from "../../../src/protocol/messages/messages.ts";
import { decode, encode, fakeParticipant, FakeSession, lastUserText } from "../../support/doubles/fake-session.ts";

test("a cancel waits for its request, which is sent as a stream, and a new turn's words do not", async () => {
  const sent: Message[] = [];
  const stream = Promise.withResolvers<void>();
  const fake = new FakeSession({
    think: (history) =>
      lastUserText(history) === "Scan"
        ? { uses: [{ name: "scan", input: { page: "p".repeat(20_000) } }] }
        : { text: "Hi." },
    publish: (bytes) => {
      const { message } = decode(bytes);
      sent.push(message);
      return message.type === "tool_use_request" ? stream.promise : Promise.resolve();
    },
  });
  const from = fakeParticipant("user");
  const types = () => sent.map(({ type }) => type);
  let stanza = 0;
  const say = (message: Message) => fake.session.handle({ type: "packet", from, bytes: encode(++stanza, message) });
  const tools = [{ name: "scan", description: "S.", inputSchema: { type: "object" } }];
  say({ type: "configuration", body: { features: ["tool_use_cancel"], tools } });
  say({ type: "user_message", body: { id: "one", content: "Scan" } });
  await vi.waitUntil(() => types().includes("tool_use_request"));

  say({ type: "control_stop", body: {} });
  say({ type: "user_message", body: { id: "two", content: "Hello" } });
  await vi.waitUntil(() => sent.some(({ type, body }) => type === "assistant_sentence" && body.text === "Hi."));
  expect(types()).not.toContain("tool_use_cancel");

  stream.resolve();
  await vi.waitUntil(() => types().includes("tool_use_cancel"));
  await fake.session.close(0);
});
