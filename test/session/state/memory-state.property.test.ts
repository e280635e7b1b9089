import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import type { HistoryMessage } from "../../../src/conversation/history.ts";
import type { StateAccess } from "../../../src/conversation/state/session-state.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { encode, FakeSession, fakeParticipant, lastUserText } from "../../support/doubles/fake-session.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

const item = fc.record({ item: fc.constantFrom("tea", "cake", "soup"), fails: fc.boolean() });
const message = fc.record({
  /** How many messages ago the message was that this one replaces; 0 for a new message. */
  edits: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }) }),
  items: fc.array(item, { maxLength: 3 }),
});
type Message = typeof message extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * Plays a session in memory whose model orders what a message lists. Returns the order after each message, and what it
 * should be.
 */
async function play(messages: readonly Message[]) {
  const orders: (readonly string[])[] = [];
  const expectedOrders: (readonly string[])[] = [];
  let seen: StateAccess | undefined;
  const order = defineTool({
    description: "Orders.",
    input: z.object({ item: z.string(), fails: z.boolean() }),
    run: ({ item: name, fails }, { session }) => {
      seen = session;
      session.update((state) => ({ order: [...((state as { order?: string[] }).order ?? []), name] }));
      if (fails) throw new Error("There is none");
    },
  });
  const think = (history: readonly HistoryMessage[]) => {
    const said = lastUserText(history);
    const uses = said === undefined ? [] : (JSON.parse(said) as Message["items"]);
    return uses.length > 0 ? { uses: uses.map((input) => ({ name: "order", input })) } : { text: "Done." };
  };
  const fake = new FakeSession({ tools: { order }, think, publish: async () => {} });
  const from = fakeParticipant("ann");
  fake.session.handle({ type: "joined", participant: from });
  let stanza = 0;
  const send = (body: Parameters<typeof encode>[1]) =>
    fake.session.handle({ type: "packet", from, bytes: encode(++stanza, body) });
  let history: { readonly id: string; readonly items: Message["items"] }[] = [];
  for (const [index, { edits, items }] of messages.entries()) {
    const target = edits > 0 ? history.at(-edits) : undefined;
    const content = JSON.stringify(items);
    const id = target?.id ?? `m${index}`;
    if (target) send({ type: "control_variation", body: { targetId: id, mode: "edit", newContent: content } });
    else send({ type: "user_message", body: { id, content } });
    await expect
      .poll(() => fake.session.isAtPause && fake.recorder.turns.size === index + 1, { interval: 1 })
      .toBe(true);
    history = [...(target ? history.slice(0, history.indexOf(target)) : history), { id, items }];
    const expected = history.flatMap((each) => each.items.flatMap(({ item: name, fails }) => (fails ? [] : [name])));
    orders.push((seen?.get() as { order?: string[] } | undefined)?.order ?? []);
    expectedOrders.push(expected);
  }
  return { orders, expected: expectedOrders };
}

test("in memory, the state is what the calls of the remaining history have made of it, over any messages and edits", async () => {
  const talks = fc.sample(fc.array(message, { maxLength: 8 }), { numRuns: propertyRuns(40), seed: propertySeed() });
  for (const messages of talks) {
    const { orders, expected } = await play(messages);
    expect(orders).toEqual(expected);
  }
});
