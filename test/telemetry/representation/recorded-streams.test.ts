import { expect, test } from "vitest";
import type { HistoryBlock } from "../../../src/conversation/history.ts";
import { readStream } from "../../../src/llm/read-stream.ts";
import type { MessagePart } from "../../../src/telemetry/representation/message-part.ts";
import { representationSchema } from "../../../src/telemetry/representation/representation.ts";
import { toMessageParts, toPartsByMessage } from "../../../src/telemetry/representation/to-message-parts.ts";
import { codeExecutionStream } from "../../fixtures/model/code-execution.ts";
import { mixedAnswerStream, mixedCallsStream } from "../../fixtures/model/mixed-calls.ts";
import { pauseTurnStream, resumedStream } from "../../fixtures/model/pause-turn.ts";
import { redactedThinkingStream } from "../../fixtures/model/stops.ts";
import { toolSearchStream } from "../../fixtures/model/tool-search.ts";
import { webFetchStream } from "../../fixtures/model/web-fetch.ts";
import { webSearchErrorStream, webSearchStream } from "../../fixtures/model/web-search.ts";
import { blocksOf, iterate } from "../../llm/call-model.ts";
import { problemsOfPart } from "./part-problems.ts";

const STREAMS: Readonly<Record<string, readonly unknown[]>> = {
  codeExecutionStream,
  mixedCallsStream,
  mixedAnswerStream,
  pauseTurnStream,
  resumedStream,
  redactedThinkingStream,
  toolSearchStream,
  webFetchStream,
  webSearchStream,
  webSearchErrorStream,
};

const read = async (stream: readonly unknown[]): Promise<readonly HistoryBlock[]> =>
  blocksOf(await Array.fromAsync(readStream(iterate(stream))));
const joined = (parts: readonly MessagePart[]) =>
  parts.flatMap((part) => (part.type === "server_tool" ? [[part["name"], part["status"]]] : []));

test.each(Object.keys(STREAMS))("the blocks in %s can be shown in every form", async (name) => {
  const blocks = await read(STREAMS[name] ?? []);

  expect(blocks).not.toEqual([]);
  for (const representation of representationSchema.options) {
    const parts = toMessageParts(blocks, { representation });
    expect(parts.flatMap((part) => problemsOfPart(part, representation))).toEqual([]);
  }
});

test.each([
  ["codeExecutionStream", ["bash_code_execution", "text_editor_code_execution", "code_execution"]],
  ["toolSearchStream", ["tool_search_tool_regex"]],
  ["webFetchStream", ["web_fetch"]],
  ["webSearchStream", ["web_search"]],
] as const)("the calls in %s are joined with their results", async (name, tools) => {
  const parts = toMessageParts(await read(STREAMS[name] ?? []), { representation: "server_tool" });

  expect(joined(parts)).toEqual(tools.map((tool) => [tool, "completed"]));
});

test("a server tool's error is a failed call", async () => {
  const parts = toMessageParts(await read(webSearchErrorStream), { representation: "server_tool" });

  expect(joined(parts)).toEqual([["web_search", "failed"]]);
});

test("a search whose result waited for a client's tool is one call across both messages", async () => {
  const messages = [await read(mixedCallsStream), await read(mixedAnswerStream)];
  const parts = toPartsByMessage(messages, { representation: "server_tool" });

  expect(parts.map(joined)).toEqual([[["web_search", "completed"]], []]);
});
