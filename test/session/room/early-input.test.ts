import { expect, test } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { EarlyInput } from "../../../src/session/room/early-input.ts";

const from = { identity: "ann", sid: "PA_1", isSip: false };
const packet = (size: number) => ({ type: "packet", from, bytes: new Uint8Array(size) }) as const;

test("everything that arrives before the session is open is kept in order", () => {
  const early = new EarlyInput();
  const inputs = [{ type: "joined", participant: from }, packet(1), { type: "left", identity: "ann" }] as const;
  for (const input of inputs) early.add(input);

  expect(early.take()).toEqual(inputs);
  expect(early.take()).toEqual([]);
});

test.each([1, 15_000])("a flood of packets of %i bytes is only partly kept, and joins are still noticed", (size) => {
  const early = new EarlyInput();
  const sent = packet(size);
  for (let count = 0; count < 100_000; count++) early.add(sent);
  early.add({ type: "joined", participant: { ...from, identity: "bob" } });

  const kept = early.take();
  expect(kept.length * (size + 200)).toBeLessThan(LIMITS.openStreamBytes);
  expect(kept.at(-1)).toMatchObject({ type: "joined" });
});
