import { expect, test } from "vitest";
import { toolResultBlock, toolUseId } from "../../src/conversation/block.ts";
import { buildHistory, OUTCOME_UNKNOWN, type HistoryBlock } from "../../src/conversation/history.ts";
import type { TurnState } from "../../src/conversation/turn-record.ts";
import { toMessages } from "../../src/llm/to-messages.ts";
import { placed, turn } from "./arbitrary-turns.ts";

const text = (said: string): HistoryBlock => ({ blockType: "text", textContent: said, content: null });
const thinking = (thought: string, signature = "4k_a"): HistoryBlock => ({
  blockType: "thinking",
  textContent: thought,
  content: { signature },
});
const use = (id: string, path = "a.txt"): HistoryBlock => ({
  blockType: "tool_use",
  textContent: null,
  content: { tool_use_id: id, tool_name: "read_file", input: { path } },
});
const result = (id: string, content: string) => toolResultBlock(id, { content, isError: false });
const search = (id: string): HistoryBlock => ({
  blockType: "server_tool_use",
  textContent: null,
  content: { tool_use_id: id, tool_name: "web_search", input: {} },
});
const found = (id: string): HistoryBlock => ({
  blockType: "server_tool_result",
  textContent: null,
  content: { type: "web_search_tool_result", tool_use_id: id, content: [] },
});

const userInput = (words: string) => [{ type: "text", text: words }] as const;
const past = (blocks: readonly HistoryBlock[], state: TurnState = "completed") =>
  turn(1, state, { input: userInput("Read file.txt"), blocks: placed(blocks) });
const next = turn(2, "running", { input: userInput("Thanks") });
/** Returns each message as `role: types`, with ids and short texts where they are relevant. */
const outline = (...blocks: readonly HistoryBlock[]) => outlineOf(blocks, "completed");
function outlineOf(blocks: readonly HistoryBlock[], state: TurnState): string[] {
  return buildHistory([past(blocks, state), next]).map(
    ({ role, blocks: shown }) =>
      `${role}: ${shown.map((each) => each.textContent ?? `${each.blockType} ${toolUseId(each)}`).join(", ")}`,
  );
}

test("the first table in spec/003 becomes the messages that it describes", () => {
  const blocks = [
    thinking("I need to check the file..."),
    text("Let me read the file."),
    use("toolu_1"),
    result("toolu_1", "file contents..."),
    thinking("Now I can see that..."),
    text("Based on the file, I found..."),
  ];

  expect(toMessages(buildHistory([past(blocks)]))).toEqual([
    { role: "user", content: [{ type: "text", text: "Read file.txt" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "I need to check the file...", signature: "4k_a" },
        { type: "text", text: "Let me read the file." },
        { type: "tool_use", id: "toolu_1", name: "read_file", input: { path: "a.txt" } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "file contents..." }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Now I can see that...", signature: "4k_a" },
        { type: "text", text: "Based on the file, I found..." },
      ],
    },
  ]);
});

test("the second table in spec/003 puts both results in one message, in call order", () => {
  const blocks = [
    text("Let me check both files."),
    use("toolu_1", "a.txt"),
    use("toolu_2", "b.txt"),
    result("toolu_1", "a.txt contents"),
    result("toolu_2", "b.txt contents"),
    text("Comparing both files..."),
  ];

  expect(outline(...blocks)).toEqual([
    "user: Read file.txt",
    "assistant: Let me check both files., tool_use toolu_1, tool_use toolu_2",
    "user: tool_result toolu_1, tool_result toolu_2",
    "assistant: Comparing both files...",
    "user: Thanks",
  ]);
});

test("results stored in another order are sent in call order", () => {
  const messages = buildHistory([
    past([use("toolu_1"), use("toolu_2"), result("toolu_2", "b"), result("toolu_1", "a")]),
  ]);

  expect(messages.at(-1)?.blocks.map(({ content }) => content?.["content"])).toEqual(["a", "b"]);
});

test("a tool use without a result gets a result that says so", () => {
  const messages = buildHistory([past([use("toolu_1"), use("toolu_2"), result("toolu_2", "b")], "failed")]);

  expect(messages.at(-1)?.blocks.map(({ content }) => content?.["content"])).toEqual([OUTCOME_UNKNOWN, "b", undefined]);
});

test.each([
  ["interrupted", "[The previous reply was interrupted by the user; they received no more of it than is shown.]"],
  ["cancelled", "[The previous reply was stopped by the user.]"],
  ["failed", "[The previous reply failed before it was complete.]"],
] as const)("after a turn that was %s the model is told so, after the results", (state, note) => {
  expect(outlineOf([text("I will"), use("toolu_1")], state)).toEqual([
    "user: Read file.txt",
    "assistant: I will, tool_use toolu_1",
    `user: tool_result toolu_1, ${note}, Thanks`,
  ]);
});

test("the model is told that the speech of a completed answer was cut off", () => {
  const turn = { ...past([text("It is sunny. It is warm.")]), heard: "It is sunny." };
  const said = buildHistory([turn]).flatMap(({ blocks }) => blocks.map(({ textContent }) => textContent));

  expect(said.slice(-2)).toEqual([
    "It is sunny.",
    "[The previous reply was cut off while it was spoken; the user heard no more of it than is shown.]",
  ]);
});

test("thinking that was cut off, empty text and results without a tool use are left out", () => {
  const cut: HistoryBlock = { blockType: "thinking", textContent: "I was about to", content: null };

  expect(outline(text(""), result("toolu_9", "?"), text("Hello."), thinking("And then"), cut)).toEqual([
    "user: Read file.txt",
    "assistant: Hello.",
    "user: Thanks",
  ]);
});

test("thinking is left out, too, if leaving out a second use would put it at the end", () => {
  const first = past([use("toolu_1"), result("toolu_1", "a")]);
  const second = turn(2, "completed", {
    input: userInput("Again"),
    blocks: placed([text("Hm"), thinking("!"), use("toolu_1")]),
  });

  expect(buildHistory([first, second]).at(-1)?.blocks).toMatchObject([{ textContent: "Hm" }]);
});

test("a server tool's call and result stay together, even across a step with client tools", () => {
  expect(outline(search("srvtoolu_1"), found("srvtoolu_1"), text("Done."))[1]).toBe(
    "assistant: server_tool_use srvtoolu_1, server_tool_result srvtoolu_1, Done.",
  );
  expect(
    outline(search("srvtoolu_1"), use("toolu_1"), result("toolu_1", "a"), found("srvtoolu_1"), text("Done.")),
  ).toEqual([
    "user: Read file.txt",
    "assistant: server_tool_use srvtoolu_1, tool_use toolu_1",
    "user: tool_result toolu_1",
    "assistant: server_tool_result srvtoolu_1, Done.",
    "user: Thanks",
  ]);
});

test("an incomplete call and result of a server tool are left out, whichever half is missing", () => {
  expect(outline(text("Let me look."), search("srvtoolu_1"))[1]).toBe("assistant: Let me look.");
  expect(outline(found("srvtoolu_1"), text("Done."))[1]).toBe("assistant: Done.");
  expect(outline(found("srvtoolu_1"), search("srvtoolu_1"), text("Done."))[1]).toBe("assistant: Done.");
});

test("a running turn waits for its server tool's result only if the API will send it", () => {
  const open = (blocks: readonly HistoryBlock[], isPaused = false) =>
    buildHistory([turn(1, "running", { input: userInput("Hi"), blocks: placed(blocks) })], { isPaused }).map(
      ({ blocks: b }) => b.map(({ blockType }) => blockType),
    );

  expect(open([text("Hm"), search("srvtoolu_1")], true).at(-1)).toEqual(["text", "server_tool_use"]);
  expect(open([text("Hm"), search("srvtoolu_1")]).at(-1)).toEqual(["text"]);
  expect(open([search("srvtoolu_1"), use("toolu_1"), result("toolu_1", "a")])).toEqual([
    ["text"],
    ["server_tool_use", "tool_use"],
    ["tool_result"],
  ]);
});

test("a conversation without words has an empty history", () => {
  expect(buildHistory([])).toEqual([]);
  expect(buildHistory([turn(1, "completed", { input: userInput("  ") })])).toEqual([]);
});

test("a turn that no message started begins with a word for the user", () => {
  expect(buildHistory([turn(1, "completed", { blocks: placed([text("Are you there?")]) })])).toMatchObject([
    { role: "user" },
    { role: "assistant" },
  ]);
});
