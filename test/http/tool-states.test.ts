import { expect, test } from "vitest";
import { z } from "zod";
import { conversationIdOfRoom } from "../../src/protocol/conversation-id.ts";
import { defineTool, type ToolContext } from "../../src/tool/define-tool.ts";
import { TestAgent } from "../support/agent.ts";
import { EventServer, type ReadEvent } from "../support/servers/event-server.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";

const isEnded = ({ event, data }: ReadEvent) => event === "tool_state" && data["finishedAt"] !== undefined;
const states = (events: readonly ReadEvent[]) =>
  events.filter(({ event }) => event === "tool_state").map(({ data }) => data);
const logsOf = (data: Record<string, unknown>) => data["logs"] as readonly string[];

function heldTool(stateDetail: "full" | "name" | "off" = "full") {
  const started = Promise.withResolvers<Pick<ToolContext, "log" | "progress">>();
  const end = Promise.withResolvers<unknown>();
  const tool = defineTool({
    description: "Scans.",
    input: z.object({}),
    stateDetail,
    run: (_input, context) => {
      started.resolve(context);
      return end.promise;
    },
  });
  return { tool, started: started.promise, end: (value: unknown) => end.resolve(value) };
}

async function begin(tools: Parameters<typeof TestAgent.start>[0], uses: readonly string[]) {
  const stack = new AsyncDisposableStack();
  const agent = stack.use(await TestAgent.start(tools));
  const server = stack.use(await EventServer.start({ databaseUrl: agent.databaseUrl }));
  const user = await agent.client("user");
  const open = () => server.open({ id: conversationIdOfRoom(agent.roomName), room: agent.roomName });
  const calls = uses.map((name, index) => toolUse(name, {}, `toolu_${index}`));
  agent.model.script([reply(calls), reply([text("Done.")])]);
  return { agent, user, open, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test("logs are streamed while the tool runs, and no older state follows a newer one", async () => {
  const { tool, started, end } = heldTool();
  await using talk = await begin({ tools: { scan: tool } }, ["scan"]);
  await using reader = await talk.open();
  await talk.user.say("Go");
  const { log } = await started;

  for (const line of ["one", "two", "three"]) {
    log(line);
    await reader.next(({ event, data }) => event === "tool_state" && logsOf(data).includes(line));
  }
  end("ok");
  await reader.next(isEnded);

  const shown = states(reader.events);
  // `pending` may be missing: a stream does not show it if the stream was still reading the record when the call
  // opened.
  expect(shown.at(-2)).toMatchObject({ status: "running" });
  expect(shown.at(-1)).toMatchObject({ status: "success" });
  expect(logsOf(shown.at(-1) ?? {})).toEqual(["one", "two", "three"]);
  const sequences = shown.map(({ sequence }) => Number(sequence));
  expect(sequences).toEqual([...new Set(sequences)].toSorted((a, b) => a - b));
});

test("a reader that connects while a tool runs first gets its current state, and then its progress", async () => {
  const { tool, started, end } = heldTool();
  await using talk = await begin({ tools: { scan: tool } }, ["scan"]);
  await using early = await talk.open();
  await talk.user.say("Go");
  const { log } = await started;
  log("one");
  await early.next(({ event, data }) => event === "tool_state" && logsOf(data).length === 1);

  await using late = await talk.open();
  const first = await late.next(({ event }) => event === "tool_state");
  end("ok");
  const last = await late.next(isEnded);

  expect(first.data).toMatchObject({ status: "running", logs: ["one"], sequence: 3 });
  expect(last.data).toMatchObject({ status: "success", output: "ok", sequence: 4 });
  expect(states(late.events)).toHaveLength(2);
});

test("a huge output is truncated with a mark for readers", async () => {
  const { tool, end } = heldTool();
  end("x".repeat(900_000));
  await using talk = await begin({ tools: { scan: tool } }, ["scan"]);
  await using reader = await talk.open();

  await talk.user.say("Go");
  const { data } = await reader.next(isEnded);
  // Waits until the participant has the result, too. If the participant left while receiving it, an unrelated error
  // would follow.
  await talk.user.next("tool_use_result");

  expect(data["output"]).toMatch(/^x{262144}\n\[truncated: 900000 bytes, the first 262144 are shown\]$/);
});

test("a tool's detail setting applies to events, live and later", async () => {
  const [named, hidden, open] = [heldTool("name"), heldTool("off"), heldTool()];
  const tools = { named: named.tool, hidden: hidden.tool, open: open.tool };
  await using talk = await begin({ tools }, Object.keys(tools));
  await using reader = await talk.open();
  await talk.user.say("Go");
  (await named.started).log("secret");
  (await hidden.started).log("secret");
  named.end("secret");
  hidden.end("secret");
  await reader.next(isEnded);

  await using late = await talk.open();
  await late.next(({ event, data }) => event === "tool_state" && data["name"] === "open");
  open.end("ok");
  await Promise.all(
    [reader, late].map((each) => each.next((event) => isEnded(event) && event.data["name"] === "open")),
  );

  for (const each of [reader, late]) {
    expect(new Set(states(each.events).map(({ name }) => name))).toEqual(new Set(["named", "open"]));
    expect(JSON.stringify(states(each.events))).not.toContain("secret");
  }
});
