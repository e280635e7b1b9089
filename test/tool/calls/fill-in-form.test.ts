import { expect, test, vi } from "vitest";
import { ASK_USER, ASK_USER_SCHEMA } from "../../../src/protocol/forms/form.ts";
import { compileForeignSchema } from "../../../src/tool/input-schema.ts";
import type { Elicited } from "../../../src/tool/define-tool.ts";
import { announced, MemoryPorts, serverTool } from "../memory-ports.ts";

const SCHEMA = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const ANNOUNCED = announced(ASK_USER, { input: compileForeignSchema(ASK_USER_SCHEMA), timeoutMs: 60_000 });

/** Starts a call whose tool asks the participant's device for a name. */
async function asking(options: ConstructorParameters<typeof MemoryPorts>[0] = {}, count = 1) {
  const answers: Elicited[] = [];
  const ask = serverTool("ask", {
    run: async (_input, { elicit }) => {
      const asked = Array.from({ length: count }, async () => elicit({ message: "Who?", schema: SCHEMA }));
      answers.push(...(await Promise.all(asked)));
      return "asked";
    },
  });
  const ports = new MemoryPorts({ tools: { ask }, participants: { user: [ANNOUNCED] }, ...options });
  const result = ports.run("ask");
  await vi.waitFor(() => expect(ports.opened.length).toBeGreaterThan(count));
  await vi.waitFor(() => expect(ports.requests.length).toBeGreaterThan(count));
  return { ports, result, answers };
}

test("a participant who leaves and does not come back has not answered", async () => {
  vi.useFakeTimers();
  try {
    const { ports, result, answers } = await asking();
    ports.signal("left");
    await vi.advanceTimersByTimeAsync(10_000);

    expect(await result).toEqual({ content: "asked", isError: false });
    expect(answers).toEqual([{ action: "cancel" }]);
  } finally {
    vi.useRealTimers();
  }
});

test("a participant who comes back is asked again under the same id", async () => {
  const { ports, result, answers } = await asking();
  ports.signal("left");
  ports.signal("returned");
  ports.answer({ action: "accept", content: { name: "Ana" } });

  await result;
  expect(ports.requests.slice(1).map(({ id }) => id)).toEqual([ports.callId, ports.callId]);
  expect(answers).toEqual([{ action: "accept", content: { name: "Ana" } }]);
});

test("two forms at once are two calls, and the tool's clock continues after the last", async () => {
  const { ports, result } = await asking({}, 2);
  const [asked, ...forms] = ports.ledger.openCalls();
  expect(asked?.current.deadlineAt).toBeUndefined();
  expect(new Set(forms.map(({ current }) => current.id)).size).toBe(2);
  for (const { current } of forms)
    ports.ledger.answer(current.id, { state: "success", result: { action: "decline" } }, "user");

  expect(await result).toEqual({ content: "asked", isError: false });
});

test("stopping a call withdraws its form", async () => {
  const { ports, result, answers } = await asking();
  ports.abort("stopped");

  expect(await result).toMatchObject({ isError: true });
  expect(ports.cancels.map(({ call, reason }) => [call.toolName, reason])).toEqual([[ASK_USER, "interrupted"]]);
  expect(ports.ledger.openCount).toBe(0);
  expect(answers).toEqual([]);
});

test("without a device for forms, an absent participant has not answered", async () => {
  const answers: Elicited[] = [];
  const ask = serverTool("ask", {
    run: async (_input, { elicit }) => void answers.push(await elicit({ message: "Who?", schema: SCHEMA })),
  });
  const ports = new MemoryPorts({ tools: { ask } });
  ports.absent.add("user");

  await ports.run("ask");
  expect(answers).toEqual([{ action: "cancel" }]);
  expect(ports.opened.map(({ toolName }) => toolName)).toEqual(["ask"]);
});

test.each([
  ["", SCHEMA, "elicit: message: expected a string of at most 2000 characters"],
  ["Who?", { type: "object" }, "elicit: the form's schema: expected an object with properties"],
  ["Who?", { type: "object", properties: { a: { type: "object" } } }, "elicit: the form's schema: properties.a:"],
])("a form with the message %j and the schema %j is an error in the tool", async (...row) => {
  const [message, schema, why] = row;
  const ask = serverTool("ask", { run: async (_input, { elicit }) => elicit({ message, schema }) });
  const ports = new MemoryPorts({ tools: { ask }, participants: { user: [ANNOUNCED] } });

  const { content, isError } = await ports.run("ask");
  expect(isError).toBe(true);
  expect(content).toContain(why);
});
