import { expect, test } from "vitest";
import { toolResultBlock } from "../../src/conversation/block.ts";
import { textBlock, type HistoryMessage } from "../../src/conversation/history.ts";
import { asText } from "../../src/lib/json.ts";
import type { TurnRecord } from "../../src/conversation/turn-record.ts";
import { backgroundReceipt, RECEIPTS } from "../../src/tool/outcome.ts";
import type { NextCall } from "../../src/turn/next-call.ts";
import { ContextWindow } from "../../src/turn/context-window.ts";
import { placed, turn } from "../conversation/arbitrary-turns.ts";

const LIMITS = { budgetTokens: 2_000, hardTokens: 10_000 };
const saidTurn = (position: number, words = "So it goes. ".repeat(20)) =>
  turn(position, "completed", { input: [{ type: "text", text: "And?" }], blocks: placed([textBlock(words)]) });
const used = (id: string, content: string | readonly object[]) => [
  { blockType: "tool_use", textContent: null, content: { tool_use_id: id, tool_name: "look", input: {} } },
  toolResultBlock(id, { content: content as string, isError: false }),
];
const running = (position: number, blocks: Parameters<typeof placed>[0] = []): TurnRecord =>
  turn(position, "running", { input: [{ type: "text", text: "And now?" }], blocks: placed(blocks) });
const next = (of: TurnRecord, changes: Partial<NextCall> = {}): NextCall => ({
  turn: of,
  isPaused: false,
  overheadFor: () => ({ key: "", bytes: 0 }),
  count: () => Promise.reject(new Error("asked to count")),
  ...changes,
});
const sizeOf = (history: readonly HistoryMessage[]) => JSON.stringify(history).length;
const textsOf = (history: readonly HistoryMessage[]) =>
  history.flatMap(({ blocks }) => blocks.map(({ textContent, content }) => textContent ?? content?.["content"]));

/** A conversation whose turns the API has counted, with one token for every three bytes. */
async function measuredWindow(turns: readonly TurnRecord[], limits = LIMITS): Promise<ContextWindow> {
  const shown = new ContextWindow({ turns: [], context: undefined }, limits);
  for (const past of turns) {
    shown.measure(
      Math.ceil(sizeOf(await shown.fit(next({ ...past, state: "running" }, { count: async () => 1 }))) / 3),
    );
    shown.add(past);
  }
  return shown;
}

test("nothing is left out while past turns are within the budget", async () => {
  const shown = await measuredWindow([1, 2, 3].map((position) => saidTurn(position)));
  shown.makeRoom();
  expect(shown.turns).toHaveLength(3);
});

test("over the budget, several whole old turns are left out at once, so that this lasts for many turns", async () => {
  const shown = await measuredWindow(Array.from({ length: 30 }, (_, index) => saidTurn(index + 1)));

  shown.makeRoom();

  const left = shown.turns.length;
  expect(left).toBeLessThan(16);
  expect(left).toBeGreaterThan(5);
  expect(shown.context.from).toBe(31 - left);
  const history = await shown.fit(next(running(31)));
  expect(history[0]).toMatchObject({ role: "user" });
  shown.makeRoom();
  expect(shown.turns).toHaveLength(left);
});

test("placeholders replace large results in older turns before whole turns are left out", async () => {
  const shown = await measuredWindow([
    turn(1, "completed", { input: [{ type: "text", text: "Look" }], blocks: placed(used("t1", "x".repeat(9_000))) }),
    saidTurn(2),
    saidTurn(3),
  ]);

  shown.makeRoom();

  expect(textsOf(await shown.fit(next(running(4))))).toContain("[result of 9 kB, read it with recall: t1]");
});

test("the context stays the same after the conversation was stored and loaded", async () => {
  const shown = await measuredWindow(Array.from({ length: 30 }, (_, index) => saidTurn(index + 1)));
  shown.makeRoom();
  const { turns, context, summary } = shown;

  const again = new ContextWindow({ turns, context: structuredClone(context), summary }, LIMITS);

  expect(await again.fit(next(running(31)))).toEqual(await shown.fit(next(running(31))));
});

test("while a request cannot be too long, no count is requested", async () => {
  const shown = await measuredWindow([saidTurn(1), saidTurn(2)]);
  await expect(shown.fit(next(running(3, used("t1", "x".repeat(5_000)))))).resolves.toBeDefined();
});

test("a request that might be too long is counted, and sent in full if it is not", async () => {
  const shown = await measuredWindow([saidTurn(1)]);
  const long = running(2, used("t1", "x".repeat(20_000)));

  const history = await shown.fit(next(long, { count: async () => 9_000 }));

  expect(textsOf(history)).toContain("x".repeat(20_000));
});

test("in one long turn, placeholders replace older results and the newest stay, with every call and its result", async () => {
  const shown = await measuredWindow([saidTurn(1)]);
  const uses = ["t1", "t2", "t3"].flatMap((id) => used(id, `${id} ${"x".repeat(12_000)}`));

  const history = await shown.fit(next(running(2, uses), { count: async (sent) => Math.ceil(sizeOf(sent) / 3) }));

  const results = history.flatMap(({ blocks }) => blocks.filter(({ blockType }) => blockType === "tool_result"));
  expect(results.map(({ content }) => asText(content?.["content"]).slice(0, 40))).toEqual([
    "[result of 12 kB, read it with recall: t",
    "[result of 12 kB, read it with recall: t",
    `t3 ${"x".repeat(37)}`,
  ]);
});

test("without a count, a byte counts as a token, and no request can be too long", async () => {
  const shown = await measuredWindow([saidTurn(1), saidTurn(2)]);
  const uses = ["t1", "t2"].flatMap((id) => used(id, "x".repeat(8_000)));

  const history = await shown.fit(next(running(3, uses), { count: async () => undefined }));

  expect(sizeOf(history)).toBeLessThan(10_500);
});

test("a message that alone is too long is refused before it is sent", async () => {
  const shown = await measuredWindow([saidTurn(1)]);
  const long = turn(2, "running", { input: [{ type: "text", text: "x".repeat(40_000) }] });

  await expect(shown.fit(next(long, { count: async () => 20_000 }))).rejects.toMatchObject({ code: "too_large" });
});

test("only the overlong message itself is refused: nothing before it is left out, then or in later turns", async () => {
  const shown = await measuredWindow([1, 2, 3].map((position) => saidTurn(position)));
  const count = async (history: readonly HistoryMessage[]) => Math.ceil(sizeOf(history) / 3);
  const pasted = { input: [{ type: "text" as const, text: "log ".repeat(20_000) }] };

  await expect(shown.fit(next(turn(4, "running", pasted), { count }))).rejects.toMatchObject({ code: "too_large" });
  shown.add(turn(4, "failed", pasted));
  shown.makeRoom();
  const history = await shown.fit(next(running(5), { count }));

  expect([shown.context.from, shown.turns.length]).toEqual([1, 4]);
  expect(
    textsOf(history)
      .map(String)
      .find((text) => text.startsWith("log ")),
  ).toMatch(/^(?:log )+ ?\[The rest of this message is not shown\.\]$/);
});

test("tools other than those that were counted count with all their bytes", async () => {
  const shown = await measuredWindow([saidTurn(1, "x".repeat(30_000)), saidTurn(2)]);
  shown.measure(9_000);
  const tools = { key: "many", bytes: 2_000 };
  let counted = 0;

  await shown.fit(next(running(2)));

  await shown.fit(next(running(2), { overheadFor: () => tools, count: async () => (counted += 1) }));

  expect(counted).toBe(1);
});

test.each([
  ["that runs in the background", backgroundReceipt("c1")],
  ["that runs on after its turn", RECEIPTS.running],
  ["that waits for a permission", RECEIPTS.toStart],
  ["that waits for an answer", RECEIPTS.asking],
])("the turns left out include a note that a call %s is open, until its outcome has arrived", async (_, receipt) => {
  const promising = { ...saidTurn(1), blocks: placed(used("t1", receipt)) };
  const shown = await measuredWindow([promising, ...Array.from({ length: 20 }, (_, index) => saidTurn(index + 2))]);
  shown.makeRoom();
  const note = `The call of look (t1) for \\"user\\" was still open. Its outcome will be reported when it arrives.`;
  expect(JSON.stringify(await shown.fit(next(running(22))))).toContain(note);

  const input = { tool_use_id: "t1", tool: "look", note: "" };
  const outcome = {
    blockType: "tool_use",
    textContent: null,
    content: { tool_use_id: "t2", tool_name: "call_outcome", input },
  };
  shown.add({
    ...saidTurn(22),
    blocks: placed([outcome, toolResultBlock("t2", { content: "clear", isError: false })]),
  });
  for (let position = 23; position < 40; position++) shown.add(saidTurn(position));
  shown.makeRoom();

  expect(JSON.stringify(await shown.fit(next(running(40))))).not.toContain("was still open");
});

test("turns with notes are left out first, over the budget or when the cache is lost anyway", async () => {
  const written = { text: "They talked.", textFrom: 1, textTo: 4, model: "small", usage: null };
  const turns = Array.from({ length: 8 }, (_, index) => saidTurn(index + 1));
  const shown = await measuredWindow(turns);
  shown.makeRoom({ written });
  expect(shown.turns).toHaveLength(8);

  shown.makeRoom({ written, isCold: true });

  expect(shown.turns.map(({ position }) => position)).toEqual([5, 6, 7, 8]);
  expect(textsOf(await shown.fit(next(running(9))))[0]).toContain("newer:]\nThey talked.");
});

test("while notes are being written the budget may be exceeded, but not by more than half", async () => {
  const shown = await measuredWindow(Array.from({ length: 20 }, (_, index) => saidTurn(index + 1)));
  shown.makeRoom({ isWriting: true });
  expect(shown.turns).toHaveLength(20);

  for (let position = 21; position < 50; position++) shown.add(saidTurn(position));
  shown.makeRoom({ isWriting: true });
  expect(shown.turns.length).toBeLessThan(20);
});

const pictures = (id: string, count: number, size = 1_000) =>
  Array.from({ length: count }, (_, index) => ({
    type: "image",
    source: { type: "media", id: `${id}-${index}`, media_type: "image/png", size },
  }));
const shownPictures = (history: readonly HistoryMessage[]) =>
  history.flatMap(({ blocks }) => blocks.flatMap(({ content }) => JSON.stringify(content).match(/t\d-\d+/gu) ?? []));

test("a picture counts as its maximum number of tokens, whatever its size in bytes", async () => {
  const seen = turn(1, "completed", {
    input: [{ type: "text", text: "Look" }],
    blocks: placed(used("t1", pictures("t1", 1, 3_000_000))),
  });
  const shown = new ContextWindow({ turns: [seen], context: undefined }, LIMITS);

  expect(shownPictures(await shown.fit(next(running(2))))).toEqual(["t1-0"]);
});

test("the newest pictures stay when there are more than a request may contain, and the next worker shows the same ones", async () => {
  const seen = [1, 2, 3].map((position) =>
    turn(position, "completed", {
      input: [{ type: "text", text: "Look" }],
      blocks: placed(used(`t${position}`, pictures(`t${position}`, 8))),
    }),
  );
  const limits = { budgetTokens: 500_000, hardTokens: 900_000 };
  const shown = new ContextWindow({ turns: seen, context: undefined }, limits);

  const history = await shown.fit(next(running(4)));

  expect(new Set(shownPictures(history).map((id) => id.slice(0, 2)))).toEqual(new Set(["t2", "t3"]));
  expect(textsOf(history)).toContainEqual(
    Array.from({ length: 8 }, () => "[image/png, 1 kB, no longer shown]").join("\n"),
  );
  const later = new ContextWindow({ turns: seen, context: shown.context }, limits);
  expect(await later.fit(next(running(4)))).toEqual(history);
});

test("when the API refuses a picture, all pictures so far are replaced by words, and later ones are shown", async () => {
  const attachment = { type: "attachment", name: "cat.png", block: pictures("t0", 1)[0] ?? {} } as const;
  const first = turn(1, "running", {
    input: [attachment, { type: "text", text: "Look" }],
    blocks: placed(used("t1", pictures("t1", 1))),
  });
  const shown = new ContextWindow({ turns: [], context: undefined }, { budgetTokens: 50_000, hardTokens: 90_000 });
  expect(shownPictures(await shown.fit(next(first)))).toEqual(["t0-0", "t1-0"]);

  expect(shown.dropMedia(first)).toBe(true);

  const more = { ...first, blocks: placed([...used("t1", pictures("t1", 1)), ...used("t2", pictures("t2", 1))]) };
  const history = await shown.fit(next(more));
  expect(shownPictures(history)).toEqual(["t2-0"]);
  expect(textsOf(history)[0]).toBe('[an attachment, image/png "cat.png", is no longer shown]');
  expect(shown.dropMedia(first)).toBe(false);
});
