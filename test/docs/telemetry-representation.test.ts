import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { toolResultBlock } from "../../src/conversation/block.ts";
import type { HistoryBlock } from "../../src/conversation/history.ts";
import { toStoredBlock } from "../../src/llm/to-stored-block.ts";
import type { MessagePart } from "../../src/telemetry/representation/message-part.ts";
import { representationSchema } from "../../src/telemetry/representation/representation.ts";
import { toMessageParts } from "../../src/telemetry/representation/to-message-parts.ts";

const page = readFileSync("docs/telemetry-representation.md", "utf8");

/** The turn that the page shows in all forms. */
const turn: readonly HistoryBlock[] = [
  toStoredBlock({ type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "Zurich" } }),
  toStoredBlock({ type: "tool_use", id: "toolu_1", name: "add", input: { a: 1, b: 2 } }),
  toolResultBlock("toolu_1", { content: '{"sum":3}', isError: false }),
  toStoredBlock({
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [{ type: "web_search_result", title: "Zurich", url: "https://example.com/zurich" }],
  }),
  toStoredBlock({ type: "text", text: "Zurich is a city, and it is 3." }),
];
const timings = new Map([["srvtoolu_1", { startedAt: Date.UTC(2026, 0, 12, 10, 30, 45), durationMs: 250 }]]);

test.each(representationSchema.options)("the page shows the turn as %s shows it", (representation) => {
  expect(page).toContain(asShown(toMessageParts(turn, { representation, timings })));
});

/** The parts as the page shows them, one per line. */
function asShown(parts: readonly MessagePart[]): string {
  return `[\n${parts.map((part) => `  ${JSON.stringify(part)}`).join(",\n")}\n]`;
}
