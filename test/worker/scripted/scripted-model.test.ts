import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startScriptedModel, type ScriptedModel } from "../../../src/worker/scripted/scripted-model.ts";

let model: ScriptedModel;
let client: Anthropic;

beforeAll(async () => {
  model = await startScriptedModel();
  client = new Anthropic({ apiKey: model.apiKey, baseURL: model.url });
});
afterAll(() => model.close());

const TOOLS: Anthropic.Tool[] = [
  { name: "calculator", input_schema: { type: "object", properties: { expression: { type: "string" } } } },
  { name: "web_search", input_schema: { type: "object", properties: { query: { type: "string" } } } },
];

interface Reply {
  readonly text: string;
  readonly uses: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  readonly stopReason: string | null;
}

/** Reads the raw stream, as src/llm does. */
async function ask(messages: Anthropic.MessageParam[], tools = TOOLS): Promise<Reply> {
  const stream = await client.messages.create({ model: "scripted", max_tokens: 100, stream: true, messages, tools });
  const uses: { id: string; name: string; json: string }[] = [];
  let text = "";
  let stopReason: string | null = null;
  for await (const event of stream) {
    if (event.type === "content_block_start" && event.content_block.type === "tool_use") {
      uses.push({ id: event.content_block.id, name: event.content_block.name, json: "" });
    }
    if (event.type === "content_block_delta" && event.delta.type === "text_delta") text += event.delta.text;
    const use = uses.at(-1);
    if (event.type === "content_block_delta" && event.delta.type === "input_json_delta" && use) {
      use.json += event.delta.partial_json;
    }
    if (event.type === "message_delta") stopReason = event.delta.stop_reason;
  }
  return {
    text,
    stopReason,
    uses: uses.map(({ id, name, json }) => ({ id, name, input: JSON.parse(json) as unknown })),
  };
}

const user = (content: Anthropic.MessageParam["content"]): Anthropic.MessageParam => ({ role: "user", content });
const used = ({ uses }: Reply): Anthropic.MessageParam => ({
  role: "assistant",
  content: uses.map((use) => ({ type: "tool_use", ...use })),
});
const result = (id: string | undefined, content: string, isError = false): Anthropic.ToolResultBlockParam => ({
  type: "tool_result",
  tool_use_id: id ?? "",
  content,
  is_error: isError,
});

test("a sum is a call to the calculator, and its result becomes a sentence", async () => {
  const question = user("what is 21 * 2?");
  const first = await ask([question]);
  const second = await ask([question, used(first), user([result(first.uses[0]?.id, '{"answer":42}')])]);

  expect(first).toMatchObject({
    stopReason: "tool_use",
    uses: [{ name: "calculator", input: { expression: "21 * 2" } }],
  });
  expect(second).toMatchObject({ stopReason: "end_turn", text: "21 * 2 is 42.", uses: [] });
});

test("two requests are two simultaneous calls with their own ids, and an error is reported as one", async () => {
  const question = user("what is 1 + 1 and search for LiveKit");
  const first = await ask([question]);
  const [sum, search] = first.uses;
  const results = [result(sum?.id, '{"answer":2}'), result(search?.id, "Web search is not configured", true)];
  const second = await ask([question, used(first), user(results)]);

  expect(first.uses.map((use) => use.name)).toEqual(["calculator", "web_search"]);
  expect(sum?.id).not.toBe(search?.id);
  expect(second.text).toBe("1 + 1 is 2. That did not work: Web search is not configured.");
});

test.each([
  ["sunny", "web_search says: sunny."],
  ["[1,2]", "web_search says: [1,2]."],
  ["42", "web_search says: 42."],
])("a result that is not a map, %s, is not a failure", async (content, said) => {
  const question = user('use web_search {"query": "Paris"}');
  const first = await ask([question]);
  const second = await ask([question, used(first), user([result(first.uses[0]?.id, content)])]);

  expect(second.text).toBe(said);
});

test("a second turn is answered from its own results, not from those of the first", async () => {
  const first = await ask([user("what is 1 + 1")]);
  const history = [user("what is 1 + 1"), used(first), user([result(first.uses[0]?.id, '{"answer":2}')])];
  const talk = [...history, { role: "assistant" as const, content: "1 + 1 is 2." }, user("and what is 3 * 3?")];

  const second = await ask(talk);

  expect(second.uses).toMatchObject([{ name: "calculator", input: { expression: "3 * 3" } }]);
  expect(second.uses[0]?.id).not.toBe(first.uses[0]?.id);
});

test("a question that arrives with old results is a new question", async () => {
  const first = await ask([user("what is 1 + 1")]);
  const text = { type: "text" as const, text: "[The previous reply was stopped by the user.]what is 3 * 3?" };

  const second = await ask([
    user("what is 1 + 1"),
    used(first),
    user([result(first.uses[0]?.id, "cancelled", true), text]),
  ]);

  expect(second.uses).toMatchObject([{ name: "calculator", input: { expression: "3 * 3" } }]);
});

test("it says what it is, and remembers earlier messages", async () => {
  const hello = await ask([user("hello")]);
  const memory = await ask([user("hello"), { role: "assistant", content: "Hi." }, user("What did I say?")]);

  expect(hello.text).toMatch(/^Hello! I am a scripted model, not Claude/);
  expect(memory.text).toBe('You said: "hello"');
});

test("without tools it only chats", async () => {
  expect(await ask([user("what is 21 * 2?")], [])).toMatchObject({ stopReason: "end_turn", uses: [] });
});

test.each(["/v1/_requests", "/__aimock/journal", "/__aimock/fixtures", "/v1/models"])(
  "a web page can neither read nor control the conversation by %s",
  async (path) => {
    const headers = { origin: "https://evil.example" };

    expect((await fetch(model.url + path, { headers })).status).toBe(401);
    expect((await fetch(model.url + path, { headers, method: "POST", body: "{}" })).status).toBe(401);
  },
);
