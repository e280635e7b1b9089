import fc from "fast-check";
import { expect, test } from "vitest";
import { toolUseId } from "../../../src/conversation/block.ts";
import { buildHistory, type HistoryBlock } from "../../../src/conversation/history.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { toChatMessages } from "../../../src/telemetry/representation/to-chat-messages.ts";
import { representationSchema } from "../../../src/telemetry/representation/representation.ts";
import { toMessageParts } from "../../../src/telemetry/representation/to-message-parts.ts";
import { toToolHalf } from "../../../src/telemetry/representation/tool-half.ts";
import { turns } from "../../conversation/arbitrary-turns.ts";
import { problemsOfPart } from "./part-problems.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

const SEED = { seed: propertySeed(20_261_121), numRuns: propertyRuns(2_000) };
const representation = fc.constantFrom(...representationSchema.options);

const type = fc.constantFrom(
  "text",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "tool_result",
  "server_tool_use",
  "server_tool_result",
  "mcp_tool_use",
  "mcp_tool_result",
  "compaction",
  "container_upload",
  "image",
  "document",
  "blob",
  "file",
  "new",
);
const resultType = fc.constantFrom("web_search_tool_result", "code_interpreter_tool_result", "x_tool_result", "x", 1);
/** Anything that a newer API, a bug or a manual edit of the database may put into a row. */
const content = fc.record(
  {
    tool_use_id: fc.constantFrom("a", "b", "", 7),
    id: fc.constantFrom("a", "c"),
    tool_name: fc.constantFrom("web_search", "code_interpreter", "mcp", "", null),
    type: resultType,
    kind: fc.constantFrom("server_call", "function_call"),
    input: fc.jsonValue(),
    content: fc.oneof(fc.jsonValue(), fc.constant({ outputs: [{ type: "logs", logs: "1" }] })),
    source: fc.oneof(fc.jsonValue(), fc.constant({ type: "base64", data: "AA==" })),
    is_error: fc.oneof(fc.boolean(), fc.jsonValue()),
  },
  { requiredKeys: [] },
);
const block: fc.Arbitrary<HistoryBlock> = fc.record({
  blockType: fc.oneof({ weight: 5, arbitrary: type }, { weight: 1, arbitrary: fc.string() }),
  textContent: fc.option(fc.string()),
  content: fc.option(content as fc.Arbitrary<JsonObject>),
});
const blocks = fc.array(block, { maxLength: 8 });

const idsIn = (parts: readonly object[]) => parts.flatMap((part) => ("id" in part ? [String(part.id)] : []));
const isHalf = (each: HistoryBlock) => toToolHalf(each) !== undefined;

test("every part of any blocks fits the schema of its representation", () => {
  fc.assert(
    fc.property(blocks, representation, (stored, chosen) => {
      const parts = toMessageParts(stored, { representation: chosen });

      expect(parts.flatMap((part) => problemsOfPart(part, chosen))).toEqual([]);
    }),
    SEED,
  );
});

test.each(["server_tool_call", "tool_call"] as const)("%s has one part for each block", (chosen) => {
  fc.assert(
    fc.property(blocks, (stored) => {
      expect(toMessageParts(stored, { representation: chosen })).toHaveLength(stored.length);
    }),
    SEED,
  );
});

test.each(["server_tool", "server_tool_execution"] as const)("%s loses no call and no response", (chosen) => {
  fc.assert(
    fc.property(blocks, (stored) => {
      const parts = toMessageParts(stored, { representation: chosen });
      const joined = parts.filter((part) => countHalves(part) === 2);

      expect(parts).toHaveLength(stored.length - joined.length);
    }),
    SEED,
  );
});

test("every tool use id is included, and no other", () => {
  fc.assert(
    fc.property(blocks, representation, (stored, chosen) => {
      const tools = stored.filter(isHalf);
      const parts = toMessageParts(tools, { representation: chosen });

      expect(new Set(idsIn(parts))).toEqual(new Set(tools.flatMap((each) => toolUseId(each) ?? [])));
    }),
    SEED,
  );
});

test("every history that is sent to the model can be shown", () => {
  fc.assert(
    fc.property(turns, representation, (past, chosen) => {
      const messages = toChatMessages(buildHistory(past), { representation: chosen });

      expect(messages.flatMap(({ parts }) => parts.flatMap((part) => problemsOfPart(part, chosen)))).toEqual([]);
      expect(messages.every(({ parts }) => parts.length > 0)).toBe(true);
    }),
    SEED,
  );
});

function countHalves(part: object): number {
  const halves = "execution_metadata" in part ? ["request", "response"] : ["tool_call", "tool_response"];
  const isJoined = "type" in part && (part.type === "server_tool" || part.type === "server_tool_execution");
  return isJoined ? halves.filter((name) => name in part).length : 0;
}
