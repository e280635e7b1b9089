import { expect, test } from "vitest";
import { KitFault, SubjectFault } from "../../src/conformance/check.ts";
import { Inbox } from "../../src/conformance/wire/inbox.ts";

const anything = (items: readonly string[]) => items.at(0);

test("a message that arrives later is waited for", async () => {
  const inbox = new Inbox<string>();
  const found = inbox.next(anything, "anything");
  inbox.add("it");

  expect(await found).toBe("it");
});

test("a message that does not arrive is the subject's fault", async () => {
  await expect(new Inbox<string>().next(anything, "the Ack", 1)).rejects.toEqual(
    new SubjectFault("the Ack did not arrive within 1 ms"),
  );
});

test("a program that has ended is not waited for", async () => {
  const inbox = new Inbox<string>();
  const found = inbox.next(anything, "the Ack");
  inbox.end("the program has ended");

  await expect(found).rejects.toEqual(new SubjectFault("the Ack did not arrive: the program has ended"));
});

test("a failure that the kit caused is the kit's fault", async () => {
  const inbox = new Inbox<string>();
  const found = inbox.next(anything, "the Ack");
  inbox.blame(new KitFault("The kit's own message is wrong"));

  await expect(found).rejects.toBeInstanceOf(KitFault);
});
