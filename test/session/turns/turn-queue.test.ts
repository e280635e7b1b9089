import { expect, test } from "vitest";
import { TurnQueue } from "../../../src/session/turns/turn-queue.ts";

const turn = { participant: "ann", messageId: "message", input: [{ type: "text", text: "Hello" }] } as const;

test("a queue is open while a turn that came would begin at once", async () => {
  const ended = Promise.withResolvers<void>();
  const queue = new TurnQueue(
    () => ended.promise,
    () => {},
  );
  expect(queue.isOpen).toBe(true);
  queue.add(turn);
  expect(queue.isOpen).toBe(false);
  ended.resolve();
  await expect.poll(() => queue.isOpen).toBe(true);
});

test.each(["hold", "shut"] as const)("after %s it is idle, and not open: nothing is to be asked ahead", (how) => {
  const queue = new TurnQueue(
    async () => {},
    () => {},
  );
  queue[how]();

  expect(queue.isIdle).toBe(true);
  expect(queue.isOpen).toBe(false);
});
