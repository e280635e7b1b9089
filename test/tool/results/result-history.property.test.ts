import fc from "fast-check";
import { expect, test } from "vitest";
import { toolResultBlock } from "../../../src/conversation/block.ts";
import type { Media } from "../../../src/conversation/content.ts";
import { buildHistory } from "../../../src/conversation/history.ts";
import { shortenTurn } from "../../../src/conversation/shorten.ts";
import { toMessages } from "../../../src/llm/to-messages.ts";
import { toolResult } from "../../../src/protocol/tool-result.ts";
import { IssuedContent } from "../../../src/model-server/issued-content.ts";
import { validateMessages } from "../../../src/model-server/validate-messages.ts";
import { toModelAnswer } from "../../../src/tool/outcome.ts";
import { readReturned } from "../../../src/tool/results/read-result.ts";
import { placed, turn } from "../../conversation/arbitrary-turns.ts";
import { GIF, PDF, PNG } from "../../support/pictures.ts";

const words = fc.oneof(fc.string(), fc.constantFrom("", " ", "\n", "Plan"));
const data = fc.oneof(fc.constantFrom(PNG, GIF, PDF), fc.uint8Array({ maxLength: 40 }), words);
const source = fc.record(
  { type: fc.constantFrom("base64", "text", "url", "media", 1), media_type: words, data, url: words, id: words },
  { requiredKeys: ["data"] },
);
const text = fc.record({ type: fc.constant("text"), text: words });
const block = fc.oneof(
  text,
  fc.record({ type: fc.constantFrom("image", "document"), source, title: words }, { requiredKeys: ["type", "source"] }),
  fc.record({
    type: fc.constant("search_result"),
    source: words,
    title: words,
    content: fc.array(text, { maxLength: 2 }),
  }),
  fc.anything(),
);
const parts = fc.record(
  { result: fc.anything(), content: fc.array(block, { maxLength: 4 }), display: fc.anything() },
  { requiredKeys: [] },
);

test("whatever a tool returns as content, the model's API accepts the history with it", () => {
  const answers = fc.record({ parts, maxBytes: fc.nat(200), isLost: fc.boolean(), isShortened: fc.boolean() });
  fc.assert(
    fc.property(fc.array(answers, { minLength: 1, maxLength: 3 }), (given) => {
      const bytes = new Map<string, Media>();
      const blocks = given.flatMap(({ parts: made, maxBytes, isLost }, index) => {
        const { outcome, media } = readReturned(toolResult(made as never));
        for (const each of isLost ? [] : media) bytes.set(each.id, each);
        const use = { tool_use_id: `toolu_${index}`, tool_name: "look", input: {} };
        return [
          { blockType: "tool_use", textContent: null, content: use },
          toolResultBlock(use.tool_use_id, toModelAnswer(outcome, { timeoutMs: 1_000, maxBytes })),
        ];
      });
      const whole = turn(1, "completed", { input: [{ type: "text", text: "Look" }], blocks: placed(blocks) });
      const stored = JSON.parse(JSON.stringify(whole)) as typeof whole;
      const shown = given.some(({ isShortened }) => isShortened)
        ? shortenTurn(stored, { position: 1, sequence: 3 })
        : stored;
      const next = turn(2, "running", { input: [{ type: "text", text: "And?" }], blocks: [] });
      const base64 = new Map([...bytes].map(([id, each]) => [id, Buffer.from(each.bytes).toString("base64")]));
      const messages = toMessages(buildHistory([shown, next]), base64) as never;

      expect([...validateMessages({ messages, tools: [{ name: "look" }] }, new IssuedContent())]).toEqual([]);
    }),
  );
});
