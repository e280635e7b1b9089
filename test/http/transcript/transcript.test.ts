import { expect, test } from "vitest";
import type { Call } from "../../../src/conversation/call.ts";
import type { TurnBlock } from "../../../src/conversation/block.ts";
import { createId } from "../../../src/lib/id.ts";
import { recordExtraAnswer, saveCall } from "../../../src/store/calls.ts";
import { insertBlocks } from "../../../src/store/turns/write-blocks.ts";
import { type TurnEndRow, finishTurn, insertTurn, type NewTurnRow } from "../../../src/store/turns/write-turns.ts";
import { newCall, newTurn, storedPermission, storedRoom, textBlock, writerOf } from "../../store/store-fixtures.ts";
import { forFile } from "../../support/lifetimes.ts";
import { EventServer, roomToken } from "../../support/servers/event-server.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forFile(tempDatabase);
const server = forFile(() => EventServer.start({ databaseUrl: database.url }));

interface TurnRows {
  readonly turn?: Partial<NewTurnRow>;
  readonly blocks?: readonly TurnBlock[];
  readonly calls?: readonly Partial<Call>[];
  readonly end?: Partial<TurnEndRow>;
}

async function storedTalk(turns: readonly TurnRows[]): Promise<{ readonly room: string; readonly sessionId: string }> {
  const talk = await storedRoom(database.sql);
  const writer = writerOf(database.sql, talk.sessionId);
  for (const { turn: changes, blocks = [], calls = [], end } of turns) {
    const turn = newTurn(changes);
    await insertTurn(writer, turn);
    for (const call of calls) await saveCall(writer, newCall(turn.id, call));
    await insertBlocks(
      writer,
      blocks.map((block) => ({ turnId: turn.id, block })),
    );
    if (end) await finishTurn(writer, { turnId: turn.id, state: "completed", ...end });
  }
  return talk;
}

async function transcriptOf({ room, sessionId }: Awaited<ReturnType<typeof storedTalk>>, query = "") {
  return server.getAs(await roomToken(room), `/session/${sessionId}/transcript${query}`);
}

async function turnsOf(talk: Awaited<ReturnType<typeof storedTalk>>): Promise<readonly Record<string, unknown>[]> {
  const { turns } = (await (await transcriptOf(talk)).json()) as { turns: Record<string, unknown>[] };
  return turns;
}

const use = (sequence: number, id: string, name = "add"): TurnBlock => ({
  sequence,
  blockType: "tool_use",
  textContent: null,
  content: { tool_use_id: id, tool_name: name, input: { a: 1 } },
});
const result = (sequence: number, id: string, content: string): TurnBlock => ({
  sequence,
  blockType: "tool_result",
  textContent: null,
  content: { tool_use_id: id, content, is_error: false },
});
const success = { state: "success", outcome: { state: "success", result: { sum: 3 } } } as const;

test("a transcript shows who spoke, what the tools did and how each turn ended", async () => {
  const talk = await storedTalk([
    {
      turn: { messageId: "answer-1", input: [{ type: "text", text: "What is 1 + 2?" }] },
      blocks: [
        { sequence: 0, blockType: "thinking", textContent: "Hm.", content: { signature: "s" } },
        textBlock(1, "Let me see."),
        use(2, "toolu_a"),
        result(3, "toolu_a", '{"sum":3}'),
        textBlock(4, "It is 3."),
      ],
      calls: [{ id: "call-a", toolUseId: "toolu_a", input: { a: 1 }, executionResolved: "server", ...success }],
      end: { stopReason: "end_turn" },
    },
  ]);

  const response = await transcriptOf(talk);

  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(response.headers.get("cache-control")).toBe("no-store");
  const time = expect.any(Number) as number;
  expect(await response.json()).toEqual({
    session: { id: talk.sessionId, conversationId: talk.room, room: talk.room, createdAt: time },
    turns: [
      {
        turnId: "answer-1",
        position: 1,
        at: time,
        endedAt: time,
        participant: "ann",
        messageId: expect.any(String) as string,
        said: "What is 1 + 2?",
        answer: [
          { type: "text", text: "Let me see." },
          {
            type: "tool",
            name: "add",
            state: "success",
            toolUseId: "toolu_a",
            callId: "call-a",
            ranOn: "server",
            input: { a: 1 },
            result: { sum: 3 },
          },
          { type: "text", text: "It is 3." },
        ],
        state: "completed",
        stopReason: "end_turn",
      },
    ],
  });
});

test("only a moderator reads what the model wrote where a hook has changed it", async () => {
  const talk = await storedTalk([
    { blocks: [{ ...textBlock(0, "It is hidden."), original: "It is 4711." }, use(1, "toolu_c")], end: {} },
  ]);
  const read = async (roomAdmin: boolean, format: string) => {
    const token = await roomToken(talk.room, { roomAdmin });
    return (await server.getAs(token, `/session/${talk.sessionId}/transcript?format=${format}`)).text();
  };

  expect(await read(true, "json")).toContain('{"type":"text","text":"It is hidden.","original":"It is 4711."}');
  expect(await read(true, "markdown")).toContain(
    "> It is hidden.\n\nChanged by a hook. The model wrote:\n\n> It is 4711.",
  );
  const ofParticipant = await read(false, "json");
  expect(ofParticipant).toContain('{"type":"text","text":"It is hidden."},{"type":"tool","name":"add"');
  expect(ofParticipant + (await read(false, "markdown"))).not.toContain("4711");
});

test("the Markdown form quotes all words, so that nobody can speak in another's name", async () => {
  const talk = await storedTalk([
    {
      turn: { input: [{ type: "text", text: "Hello\n**`bob`**\n\n> <b>I am Bob</b>" }] },
      blocks: [textBlock(0, "Hello, Ann."), use(1, "toolu_b", "say"), result(2, "toolu_b", "`done`")],
      end: { state: "interrupted", speech: { state: "interrupted", heard: "Hello" } },
    },
  ]);

  const response = await transcriptOf(talk, "?format=markdown");

  expect(response.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  const text = (await response.text()).replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "TIME");
  expect(text).toBe(
    [
      `# Transcript of \`${talk.room}\``,
      "",
      `Session \`${talk.sessionId}\`, begun TIME UTC.`,
      "",
      "## TIME UTC",
      "",
      "**`ann`**",
      "",
      "> Hello",
      "> **`bob`**",
      ">",
      String.raw`> > \<b>I am Bob\</b>`,
      "",
      "**Agent**",
      "",
      "> Hello, Ann.",
      "",
      '- Used `say` with `{"a":1}`: success, `` `done` ``',
      "",
      "Cut off. What was heard:",
      "",
      "> Hello",
      "",
      "(interrupted)",
      "",
    ].join("\n"),
  );
});

test("a call to an MCP server's tool includes the server's name, also in Markdown", async () => {
  const call = { toolUseId: "toolu_m", mcpServer: "shop", executionResolved: "server", ...success } as const;
  const talk = await storedTalk([{ blocks: [use(0, "toolu_m", "shop_count")], calls: [call] }]);

  const [turn] = await turnsOf(talk);

  expect(turn?.["answer"]).toMatchObject([{ ranOn: "server", mcpServer: "shop" }]);
  const markdown = await (await transcriptOf(talk, "?format=markdown")).text();
  expect(markdown).toContain(", run by MCP server `shop`: success");
});

test("a tool with the detail name shows nothing else, and one with off shows nothing", async () => {
  const talk = await storedTalk([
    {
      blocks: [use(0, "toolu_n", "named"), use(1, "toolu_o", "hidden")],
      calls: [
        { toolUseId: "toolu_n", detail: "name", ...success },
        { toolUseId: "toolu_o", detail: "off", ...success },
      ],
    },
  ]);

  const [turn] = await turnsOf(talk);

  expect(turn?.["answer"]).toEqual([{ type: "tool", name: "named", state: "success" }]);
});

test("a failed call shows its error, and a tool of Anthropic's its own words", async () => {
  const failure = { state: "error", errorCode: "timeout", errorMessage: "Too slow" } as const;
  const talk = await storedTalk([
    {
      blocks: [
        use(0, "toolu_f", "slow"),
        {
          sequence: 1,
          blockType: "server_tool_use",
          textContent: null,
          content: { tool_use_id: "srvtoolu_1", tool_name: "web_search", input: { query: "x" } },
        },
        {
          sequence: 2,
          blockType: "server_tool_result",
          textContent: null,
          content: {
            tool_use_id: "srvtoolu_1",
            content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" },
          },
        },
      ],
      calls: [
        {
          id: "call-f",
          toolUseId: "toolu_f",
          state: "error",
          outcome: failure,
          addressee: "bob",
          executionResolved: "client",
        },
      ],
    },
  ]);

  const [turn] = await turnsOf(talk);

  expect(turn?.["answer"]).toEqual([
    {
      type: "tool",
      name: "slow",
      state: "error",
      toolUseId: "toolu_f",
      callId: "call-f",
      ranOn: "client",
      participant: "bob",
      input: { city: "Utrecht" },
      errorCode: "timeout",
      errorMessage: "Too slow",
    },
    {
      type: "tool",
      name: "web_search",
      toolUseId: "srvtoolu_1",
      input: { query: "x" },
      ranOn: "anthropic",
      state: "error",
      errorMessage: "max_uses_exceeded",
    },
  ]);
});

test("a replaced turn stays and is marked; a turn that the worker started has no speaker", async () => {
  const talk = await storedTalk([
    { turn: { id: "replaced-turn" }, end: {} },
    { turn: { replaces: "replaced-turn" }, end: {} },
    {
      turn: { parentMessageId: null },
      blocks: [use(0, "toolu_late", "call_outcome"), result(1, "toolu_late", "done"), textBlock(2, "It is done.")],
    },
  ]);

  const turns = await turnsOf(talk);

  expect(turns.map(({ isReplaced, said }) => [isReplaced, said])).toEqual([
    [true, "Hello"],
    [undefined, "Hello"],
    [undefined, undefined],
  ]);
  expect(turns[2]?.["answer"]).toEqual([{ type: "text", text: "It is done." }]);
});

test("a session with more turns than a page holds shows them all, in order", async () => {
  const talk = await storedTalk(Array.from({ length: 31 }, () => ({ end: {} })));

  const turns = await turnsOf(talk);

  expect(turns.map(({ position }) => position)).toEqual(Array.from({ length: 31 }, (_, index) => index + 1));
});

test("another room's session is not shown, and an unknown form is a clear 400", async () => {
  const [talk, other] = [await storedTalk([]), await storedTalk([])];

  const foreign = await transcriptOf({ room: talk.room, sessionId: other.sessionId });
  const wrong = await transcriptOf(talk, "?format=pdf");

  expect([foreign.status, await foreign.json()]).toEqual([
    404,
    { error: "There is no such session in the token's room" },
  ]);
  expect(wrong.status).toBe(400);
  expect(((await wrong.json()) as { error: string }).error).toMatch(/^format: /);
});

test("a participant can read five at a time, and more when those have ended", async () => {
  const talk = await storedTalk([{}]);
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => transcriptOf(talk)));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await Promise.all(answers.map((answer) => answer.text()));
  }
});

test("a message's attachments and a tool's display are shown", async () => {
  const source = { type: "media", id: "m1", media_type: "image/png", size: 70 };
  const attachment = { type: "attachment", name: "plan.png", block: { type: "image", source } } as const;
  const use = { tool_use_id: "toolu_1", tool_name: "plan", input: {} };
  const talk = await storedTalk([
    {
      turn: { parentMessageId: "m", input: [attachment, { type: "text", text: "What is this?" }] },
      blocks: [{ sequence: 0, blockType: "tool_use", textContent: null, content: use }],
      calls: [
        {
          toolUseId: "toolu_1",
          toolName: "plan",
          state: "success",
          outcome: { state: "success", result: { rooms: 2 }, display: { url: "/plans/17" } },
        },
      ],
      end: {},
    },
  ]);

  const turns = (await (await transcriptOf(talk)).json()) as { turns: unknown[] };

  expect(turns.turns).toMatchObject([
    {
      said: "What is this?",
      attachments: ["plan.png"],
      answer: [{ name: "plan", result: { rooms: 2 }, display: { url: "/plans/17" } }],
    },
  ]);
  const markdown = await (await transcriptOf(talk, "?format=markdown")).text();
  expect(markdown).toContain("- Attached `plan.png`");
  expect(markdown).toContain('displayed `{"url":"/plans/17"}`');
});

test("the Markdown form shows a picture's kind and size in place of its bytes", async () => {
  const src = `data:image/png;base64,${Buffer.alloc(1_000, 7).toString("base64")}`;
  const outcome = { state: "success", result: { pages: [src] }, display: { title: "Plan", src } } as const;
  const talk = await storedTalk([
    { blocks: [use(0, "toolu_1", "plan")], calls: [{ toolUseId: "toolu_1", state: "success", outcome }], end: {} },
  ]);

  const markdown = await (await transcriptOf(talk, "?format=markdown")).text();

  expect(markdown).toContain(
    '`{"pages":["image/png, 1000 bytes"]}`, displayed `{"src":"image/png, 1000 bytes","title":"Plan"}`',
  );
});

test("an answer that arrived after its call's end is shown with the call", async () => {
  const call = { id: createId(), toolUseId: "toolu_1", ...success };
  const talk = await storedTalk([{ blocks: [use(0, "toolu_1"), result(1, "toolu_1", "3")], calls: [call], end: {} }]);
  const writer = writerOf(database.sql, talk.sessionId);
  await recordExtraAnswer(writer, { callId: call.id, answer: { kind: "late", from: "bob", success: true } });

  const [turn] = await turnsOf(talk);

  expect(turn?.["answer"]).toMatchObject([{ extraAnswers: [{ kind: "late", from: "bob", success: true }] }]);
});

test("the times of what happened in a turn are shown, except for calls that show only their name", async () => {
  const part = (callId: string, toolUseId: string) => ({ span: "execute_tool", fromMs: 5, toMs: 9, callId, toolUseId });
  const [shown, hidden] = [part("call-s", "toolu_s"), part("call-h", "toolu_h")];
  const permission = { span: "parley.permission", fromMs: 5, toMs: 7, callId: "call-h" };
  const chat = { span: "chat", fromMs: 1, firstMs: 3, toMs: 5 };
  const timings = { startedAt: 1_795_000_000_000, totalMs: 20, firstTextMs: 4 };
  const talk = await storedTalk([
    {
      blocks: [use(0, "toolu_s"), use(1, "toolu_h", "secret")],
      calls: [
        { id: "call-s", toolUseId: "toolu_s", ...success },
        { id: "call-h", toolUseId: "toolu_h", detail: "name", ...success },
      ],
      end: { timings: { ...timings, parts: [chat, shown, hidden, permission] } },
    },
    { blocks: [], end: {} },
  ]);
  // Earlier versions stored timings without a start and parts.
  await database.sql`
    update turns set timings = '{"totalMs":30,"firstTextMs":8}' where session_id = ${talk.sessionId} and position = 2`;

  const [turn, old] = await turnsOf(talk);

  expect(turn?.["timings"]).toEqual({ ...timings, parts: [chat, shown] });
  expect(old?.["timings"]).toEqual({ startedAt: old?.["at"], totalMs: 30, firstTextMs: 8, parts: [] });
});

test("a call is shown with its log, its times, and the model's original arguments if a person has edited them", async () => {
  const times = { startedAt: 1_795_000_000_100, finishedAt: 1_795_000_000_400 };
  const call = { id: createId(), toolUseId: "toolu_1", input: { a: 1 }, logs: ["One.", "Two."], ...times, ...success };
  const talk = await storedTalk([{ blocks: [use(0, "toolu_1")], calls: [call], end: {} }]);
  const { id } = await storedPermission(database.sql, { sessionId: talk.sessionId, callId: call.id });
  await database.sql`update permissions set edited_input = '{"a":7}' where id = ${id}`;

  const [turn] = await turnsOf(talk);

  expect(turn?.["answer"]).toMatchObject([{ input: { a: 7 }, modelInput: { a: 1 }, logs: ["One.", "Two."], ...times }]);
});

test("if a turn's calls are too large together, the small ones are shown in full, and the others with their size", async () => {
  const answered = (id: string, length: number): Partial<Call> => {
    const outcome = { state: "success", result: { text: "x".repeat(length) }, display: { url: "/x" } } as const;
    return { id: `call-${id}`, toolUseId: id, toolName: "read", state: "success", outcome };
  };
  const sizes = { toolu_1: 300_000, toolu_2: 100_000, toolu_3: 200_000, toolu_4: 1_000 };
  const ids = Object.keys(sizes);
  const talk = await storedTalk([
    {
      blocks: ids.map((id, index) => use(index, id, "read")),
      calls: Object.entries(sizes).map(([id, length]) => answered(id, length)),
      end: {},
    },
  ]);

  const [turn] = await turnsOf(talk);
  const markdown = await (await transcriptOf(talk, "?format=markdown")).text();

  const leftOut = (length: number) => expect.closeTo(length, -3) as number;
  const toolPart = { type: "tool", name: "read", state: "success" };
  const whole = { ...toolPart, input: { city: "Utrecht" }, display: { url: "/x" } };
  expect(turn?.["answer"]).toEqual([
    { ...toolPart, toolUseId: "toolu_1", callId: "call-toolu_1", leftOutBytes: leftOut(300_000) },
    { ...whole, toolUseId: "toolu_2", callId: "call-toolu_2", result: { text: "x".repeat(100_000) } },
    { ...toolPart, toolUseId: "toolu_3", callId: "call-toolu_3", leftOutBytes: leftOut(200_000) },
    { ...whole, toolUseId: "toolu_4", callId: "call-toolu_4", result: { text: "x".repeat(1_000) } },
  ]);
  expect(markdown).toMatch(/- Used `read`: success \(3000\d\d bytes are left out\)/);
});
