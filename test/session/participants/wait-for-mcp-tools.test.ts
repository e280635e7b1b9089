import { expect, test } from "vitest";
import type { TurnBlock } from "../../../src/conversation/block.ts";
import { waitForMcpTools } from "../../../src/session/participants/wait-for-mcp-tools.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { forEachTest } from "../../support/lifetimes.ts";

const clock = forEachTest(() => new VirtualClock());

const use = (name: string): TurnBlock => ({
  sequence: 0,
  blockType: "tool_use",
  textContent: null,
  content: { tool_use_id: `use_${name}`, tool_name: name, input: {} },
});
const result = (name: string): TurnBlock => ({
  sequence: 1,
  blockType: "tool_result",
  textContent: null,
  content: { tool_use_id: `use_${name}`, content: "Done." },
});

/**
 * Simulates a worker that has just started, with an MCP server named `shop`. Returns how many ms a resumed turn with
 * these blocks waits for the server's tools.
 */
async function measureWait(blocks: readonly TurnBlock[], listedAfterMs: number, signal = new AbortController().signal) {
  const serverTools = new Map<string, unknown>();
  const listeners = new Set<() => void>();
  const onChanged = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  setTimeout(() => {
    serverTools.set("shop_look", {});
    for (const listener of listeners) listener();
  }, listedAfterMs);
  const startedAt = clock.now;
  let tookMs: number | undefined;
  void waitForMcpTools(blocks, { serverTools, prefixes: ["shop_"], onChanged }, signal).then(
    () => (tookMs = clock.now - startedAt),
  );
  await clock.run(60_000);
  expect(listeners.size).toBe(0);
  return tookMs;
}

test.each([
  { when: "the server has listed its tool", blocks: [use("shop_look")], listedAfterMs: 700, expected: 700 },
  { when: "5 s have passed", blocks: [use("shop_look")], listedAfterMs: 30_000, expected: 5_000 },
  { when: "no such call is open", blocks: [use("shop_look"), result("shop_look")], listedAfterMs: 700, expected: 0 },
  { when: "no server has such a name", blocks: [use("look")], listedAfterMs: 700, expected: 0 },
])("a turn is resumed when $when", async ({ blocks, listedAfterMs, expected }) => {
  expect(await measureWait(blocks, listedAfterMs)).toBe(expected);
});

test("a turn that is stopped waits for nothing", async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 300);
  expect(await measureWait([use("shop_look")], 700, controller.signal)).toBe(300);
});
