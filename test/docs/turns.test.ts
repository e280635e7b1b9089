import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { createModel } from "../../src/llm/stream-message.ts";
import { ContextWindow } from "../../src/turn/context-window.ts";
import { createOpenStream } from "../../src/session/model/open-stream.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { StepRequest } from "../../src/turn/run-step.ts";
import { runTurn } from "../../src/turn/run-turn.ts";
import type { TurnEvent } from "../../src/turn/turn-event.ts";
import { TestAgent } from "../support/agent.ts";
import { startModelServer } from "../../src/model-server/model-server.ts";
import { reply, text, thinking, toolUse, type Step } from "../../src/model-server/step.ts";

const doc = readFileSync(new URL("../../docs/turns.md", import.meta.url), "utf8");

const readFileTool = defineTool({
  description: "Reads a file.",
  input: z.object({ path: z.string() }),
  readOnly: true,
  run: ({ path }) => {
    if (path === "gone.txt") throw new Error("File not found: gone.txt");
    return `${path} contents`;
  },
});

const failing = [reply([toolUse("read_file", { path: "gone.txt" }, "toolu_1")]), reply([text("That file is gone.")])];

test("the table for a turn with a tool is what such a turn stores", async () => {
  const rows = await storedRows("Read a.txt", [
    reply([
      thinking("I need to check the file..."),
      text("Let me read the file."),
      toolUse("read_file", { path: "a.txt" }, "toolu_1"),
    ]),
    reply([thinking("Now I can see that..."), text("Based on the file, I found...")]),
  ]);

  expect(tableUnder("Follow a turn with a tool")).toEqual(rows);
});

test("the table for several tools is what such a turn stores", async () => {
  const rows = await storedRows("Compare both", [
    reply([
      text("Let me check both files."),
      toolUse("read_file", { path: "a.txt" }, "toolu_1"),
      toolUse("read_file", { path: "b.txt" }, "toolu_2"),
    ]),
    reply([text("Comparing both files...")]),
  ]);

  expect(tableUnder("Use several tools in one step")).toEqual(rows);
});

test("the table for a failed tool is what such a turn stores", async () => {
  expect(tableUnder("Fail a tool")).toEqual(await storedRows("Read gone.txt", failing));
});

test("the events for a failed tool are what such a turn yields", async () => {
  await using server = await startModelServer();
  server.script(failing);
  const model = createModel({ apiKey: "test", baseUrl: server.url });
  const openStream = createOpenStream(model, { model: "claude-test", maxTokens: 1_024, instructions: "Be brief." });
  const tools = [{ name: "read_file", description: "Reads a file.", inputSchema: { type: "object" } }];
  const turn = {
    id: "turn_1",
    position: 1,
    participantIdentity: "user",
    parentMessageId: "message_1",
    messageId: "message_2",
    input: [{ type: "text", text: "Read gone.txt" }],
    state: "running",
    blocks: [],
  } as const;
  const dependencies = {
    model: "claude-test",
    maxSteps: 10,
    openStream: (request: StepRequest, signal: AbortSignal) =>
      openStream({ ...request, tools, participant: "ann", onRefusedTool: () => {} }, signal),
    record: { add: () => {}, durable: async () => {} },
    overheadFor: () => ({ key: "", bytes: 0 }),
    countTokens: async () => undefined,
    tools: {
      run: async () => ({ content: "File not found: gone.txt", isError: true }),
      refuse: () => ({ content: "", isError: true }),
      startsEarly: () => false,
    },
  };

  const events: string[] = [];
  const shown = new ContextWindow({ turns: [], context: undefined }, { budgetTokens: 30_000, hardTokens: 120_000 });
  for await (const event of runTurn({ shown, turn }, dependencies, new AbortController().signal)) {
    const line = describe(event);
    if (line !== events.at(-1)) events.push(line);
  }

  expect(linesUnder("Read the events")).toEqual(events);
});

test("every sentence that the page quotes is in the code", () => {
  const files = ["conversation", "turn", "tool", "session", "lib"].flatMap((folder) =>
    globSync(`src/${folder}/**/*.ts`),
  );
  const code = files.map((file) => readFileSync(file, "utf8")).join("\n");
  const prose = doc.replaceAll(/^```[^]*?^```/gm, "");
  const quoted = [...prose.matchAll(/[`"](\[?[A-Za-z][a-z]* [^`"\n]*)[`"]/g)].flatMap(([, sentence]) => sentence ?? []);
  // On the page, an ellipsis stands for what the code fills in.
  const isInCode = (sentence: string) => sentence.split("…").every((part) => code.includes(part.trim()));

  expect(quoted.length).toBeGreaterThan(8);
  expect(quoted.filter((sentence) => !isInCode(sentence))).toEqual([]);
});

/** An event as a line on the page. Consecutive deltas of one kind have equal lines, which the page shows only once. */
function describe(event: TurnEvent): string {
  switch (event.type) {
    case "turn_start":
      return event.type;
    case "block_start":
      return `${event.type} ${event.sequence} ${event.blockType}`;
    case "block_delta":
      return `${event.type} ${event.sequence} ${event.delta.type}`;
    case "block_stop":
      return `${event.type} ${event.sequence} ${event.block.blockType}`;
    case "usage":
      return `${event.type} ${event.step}`;
    case "turn_complete":
      return `${event.type} ${event.state} ${event.stopReason}`;
  }
}

/** Runs one turn in a real room with the strict model server, and returns its rows in `turn_blocks`. */
async function storedRows(question: string, steps: readonly Step[]): Promise<string[]> {
  await using agent = await TestAgent.start({ tools: { read_file: readFileTool } });
  const user = await agent.client("user");
  agent.model.script(steps);
  await user.answerTo(await user.say(question));
  await agent.leave();
  expect(agent.model.rejections).toEqual([]);
  const rows = await agent.sql<{ row: string }[]>`
    select concat_ws(' | ',
      sequence, block_type, coalesce(to_json(text_content)::text, 'null'), coalesce(content::text, 'null')) as row
    from turn_blocks order by sequence`;
  return rows.map(({ row }) => row.replace(/"sig_[^"]*"/, '"…"'));
}

/** The rows of the table below a heading, without the padding and the table's two header lines. */
function tableUnder(heading: string): string[] {
  return linesUnder(heading)
    .slice(2)
    .map((row) => row.replaceAll(/ +\| /g, " | "));
}

/** The first code block below a heading. */
function linesUnder(heading: string): string[] {
  const section = doc.split(/^## /m).find((part) => part.startsWith(heading)) ?? "";
  const [, block = ""] = /```text\n([^`]*)```/.exec(section) ?? [];
  return block.trimEnd().split("\n");
}
