import { InMemorySpanExporter, SimpleSpanProcessor, BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { expect, test } from "vitest";
import { ChatTrace, traced } from "../../../src/session/telemetry/chat-trace.ts";
import { TurnTrace } from "../../../src/session/telemetry/turn-trace.ts";
import { createTelemetry } from "../../../src/telemetry/telemetry.ts";
import { readStream } from "../../../src/llm/read-stream.ts";
import { webSearchStream } from "../../fixtures/model/web-search.ts";
import { iterate } from "../../llm/call-model.ts";

test("a recorded server tool shows when and how long it ran, in Option 3's second structure", async () => {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const settings = { capture: "SPAN_ONLY", representation: "server_tool_execution" } as const;
  const telemetry = createTelemetry(settings, { tracerProvider });
  const identity = {
    conversationId: "c",
    sessionId: "s",
    participant: "ann",
    model: "claude-test",
    parent: undefined,
    ownTools: new Set<string>(),
  };
  const request = { model: "claude-test", max_tokens: 100, messages: [] };
  const call = { request, history: [], instructions: "", tools: [], serverTools: [] };
  const turn = new TurnTrace(telemetry, identity);

  await Array.fromAsync(traced(new ChatTrace(telemetry, turn, call), readStream(iterate(webSearchStream))));

  const chat = exporter.getFinishedSpans().find(({ name }) => name.startsWith("chat"));
  expect(JSON.parse(String(chat?.attributes["gen_ai.output.messages"]))).toMatchObject([
    {
      parts: [
        {},
        {
          type: "server_tool_execution",
          execution_metadata: {
            status: "completed",
            duration_ms: expect.any(Number),
            timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
          },
        },
        {},
      ],
    },
  ]);
});
