import fc from "fast-check";
import { expect, test } from "vitest";
import type { HistoryMessage } from "../../src/conversation/history.ts";
import { textBlock } from "../../src/conversation/history.ts";
import { buildRequest } from "../../src/llm/build-request.ts";
import { toBody } from "../../src/llm/request-body.ts";

const say = (role: HistoryMessage["role"], text: string): HistoryMessage => ({ role, blocks: [textBlock(text)] });
const requestOf = (messages: readonly HistoryMessage[]) => buildRequest({ model: "m", maxTokens: 100, messages });

/** Returns the body that is sent, and the body that should be sent. */
function sentAndExpected(messages: readonly HistoryMessage[]): [unknown, unknown] {
  const request = requestOf(messages);
  return [JSON.parse(toBody(request).toString()), JSON.parse(JSON.stringify({ ...request, stream: true }))];
}

test("a growing conversation is written in full each time", () => {
  const history = [say("user", "question 0")];
  for (let turn = 1; turn <= 60; turn++) {
    const [sent, whole] = sentAndExpected(history);
    expect(sent).toEqual(whole);
    history.push(say("assistant", `answer ${turn}`), say("user", `question ${turn}`));
  }
});

test("a conversation is written in full however its start and its end change", () => {
  const texts = Array.from({ length: 80 }, (_, index) => say(index % 2 === 0 ? "user" : "assistant", `text ${index}`));
  const cut = fc.record({ from: fc.nat(3), to: fc.integer({ min: 1, max: 80 }), replaced: fc.option(fc.nat(79)) });
  fc.assert(
    fc.property(fc.array(cut, { maxLength: 12 }), (cuts) => {
      for (const { from, to, replaced } of cuts) {
        const shown = texts.map((message, index) => (index === replaced ? say(message.role, "replaced") : message));
        const [sent, whole] = sentAndExpected(shown.slice(from, Math.max(from + 1, to)));
        expect(sent).toEqual(whole);
      }
    }),
  );
});

test("a request without messages is written", () => {
  expect(JSON.parse(toBody(requestOf([])).toString())).toMatchObject({ model: "m", messages: [], stream: true });
});
