import { expect, test } from "vitest";
import { TurnQueue } from "../../../src/session/turns/turn-queue.ts";

const turn = { participant: "ann", messageId: "message", input: [{ type: "text", text: "Hello" }] } as const;

/** Returns a queue whose first turn runs until `runAll` is called, which resolves to the order of all turns. */
function recordingQueue() {
  const ran: string[] = [];
  const begun = Promise.withResolvers<void>();
  const idle = Promise.withResolvers<void>();
  const queue = new TurnQueue(
    async (input) => {
      ran.push("messageId" in input ? String(input.messageId) : "");
      await begun.promise;
    },
    () => idle.resolve(),
  );
  const runAll = async () => {
    begun.resolve();
    await idle.promise;
    return ran;
  };
  return { queue, runAll };
}

test("a queue is open while a new turn would start immediately", async () => {
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

test.each(["hold", "shut"] as const)("after %s it is idle, and not open: nothing is to be requested ahead", (how) => {
  const queue = new TurnQueue(
    async () => {},
    () => {},
  );
  queue[how]();

  expect(queue.isIdle).toBe(true);
  expect(queue.isOpen).toBe(false);
});

test("participants take turns, so that one participant's many messages do not delay the others", async () => {
  const { queue, runAll } = recordingQueue();
  for (const messageId of ["eve-1", "eve-2", "eve-3"]) queue.add({ ...turn, participant: "eve", messageId });
  for (const messageId of ["ann-1", "ann-2"]) queue.add({ ...turn, messageId });

  expect(await runAll()).toEqual(["eve-1", "ann-1", "eve-2", "ann-2", "eve-3"]);
});

test("a turn that replaces another one comes first, because it also replaces the turns before it", async () => {
  const { queue, runAll } = recordingQueue();
  queue.add({ ...turn, messageId: "ann-1" });
  queue.add({ ...turn, messageId: "ann-continues", replaces: { id: "1", messageId: "answer", position: 1 } });
  queue.add({ ...turn, participant: "eve", messageId: "eve-1" });

  expect(await runAll()).toEqual(["ann-1", "ann-continues", "eve-1"]);
});

test("one participant's waiting messages leave room for the others'", () => {
  const queue = new TurnQueue(
    () => new Promise(() => {}),
    () => {},
  );
  const addMany = () => {
    for (let count = 0; count < 30; count++) queue.add({ ...turn, participant: "eve" });
  };

  expect(addMany).toThrow("Too many messages are waiting for an answer");
  expect(() => queue.add(turn)).not.toThrow();
});
