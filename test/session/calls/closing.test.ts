import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { Message } from "../../../src/protocol/messages/messages.ts";
import { decode, encode, fakeParticipant, FakeSession } from "../../support/doubles/fake-session.ts";

/**
 * Closes a session while its client runs a call. Returns whether the client has answered, and the cancels that it was
 * sent.
 */
async function closeWithOpenCall(answersAfterMs?: number) {
  const sent: Message[] = [];
  const from = fakeParticipant("user");
  let isAnswered = false;
  const { session } = new FakeSession({
    think: () => ({ uses: [{ name: "scan" }] }),
    publish: async (bytes) => {
      const { message } = decode(bytes);
      sent.push(message);
      if (message.type !== "tool_use_cancel" || answersAfterMs === undefined) return;
      const { id } = message.body;
      setTimeout(() => {
        isAnswered = true;
        const body = { id, success: false, errorCode: "cancelled", errorMessage: "Stopped" };
        session.handle({ type: "packet", from, bytes: encode(3, { type: "tool_use_result", body }) });
      }, answersAfterMs);
    },
  });
  const tools = [{ name: "scan", description: "S.", inputSchema: { type: "object" } }];
  const configuration: Message = { type: "configuration", body: { features: ["tool_use_cancel"], tools } };
  session.handle({ type: "packet", from, bytes: encode(1, configuration) });
  const message: Message = { type: "user_message", body: { id: "one", content: "Scan" } };
  session.handle({ type: "packet", from, bytes: encode(2, message) });
  await vi.waitUntil(() => sent.some(({ type }) => type === "tool_use_request"));
  await session.close(0);
  return { isAnswered, cancels: sent.filter(({ type }) => type === "tool_use_cancel") };
}

test("a session that closes waits until the client has answered the cancel of its call", async () => {
  const { isAnswered, cancels } = await closeWithOpenCall(100);

  expect(cancels).toMatchObject([{ body: { reason: "closed" } }]);
  expect(isAnswered).toBe(true);
});

test("a client that does not answer a cancel does not prevent a session from closing", async () => {
  const closed = closeWithOpenCall();

  await expect(Promise.race([closed, sleep(5_000, "still open")])).resolves.toMatchObject({ isAnswered: false });
});
