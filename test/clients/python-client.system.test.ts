import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { expect, inject, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import { createHttpServer } from "../../src/http/http-server.ts";
import { TestAgent } from "../support/agent.ts";
import { scriptOf } from "../support/client-tool.ts";
import { guardedTool } from "../support/guarded-tool.ts";
import { messagesTo } from "../support/model-view.ts";
import { PNG } from "../support/pictures.ts";
import { httpError, reply, text, toolUse } from "../../src/model-server/step.ts";
import { PACKAGE } from "../support/python.ts";
import { TcpProxy } from "../support/servers/tcp-proxy.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";
import { pythonPrograms } from "./python-programs.ts";

const { play, start } = pythonPrograms();

test("the README's program prints what the README says", async () => {
  await using agent = await TestAgent.start();
  await using folder = await tempFolder();
  const livekit = { url: inject("livekitUrl"), apiKey: inject("livekitApiKey"), apiSecret: inject("livekitApiSecret") };
  const options = { logger: pino({ enabled: false }), livekit, publicUrl: livekit.url, checks: [] };
  const http = createHttpServer({ ...options, token: { isOpen: true, secret: undefined } });
  onTestFinished(() => http.close());
  const worker = await http.listen({ host: "127.0.0.1", port: 0 });
  agent.model.script([
    reply([text("Let me see."), toolUse("show_notification", { message: "dinner is ready" })]),
    reply([text("The notification is on your screen.")]),
  ]);
  const readme = await readFile(join(PACKAGE, "README.md"), "utf8");
  const [, program = ""] = /```py\n([^]*?)```/.exec(readme) ?? [];
  const [, printed = ""] = /\$ \.venv\/bin\/python hello\.py\n([^]*?)```/.exec(readme) ?? [];
  const file = join(folder.path, "hello.py");
  await writeFile(file, program.replace("http://127.0.0.1:8080", worker).replace("kitchen", agent.roomName));

  const { ended } = start([file]);

  const { code, stdout, stderr } = await ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: [] });
  // Two parts of the program print the sentence and the tool's line, in either order.
  expect(stdout.toSorted()).toEqual(printed.trim().split("\n").toSorted());
});

test("sentences stream, tools in threads and coroutines run, and their logs and failures are on record", async () => {
  await using agent = await TestAgent.start();
  agent.model.script([
    reply([toolUse("look_up", { word: "milk" }), toolUse("fail", { word: "milk" })]),
    reply([text("Milk is good. Have some.")]),
  ]);

  const { end } = await play("stream", agent.roomName);

  expect(await end()).toEqual({
    code: 0,
    stderr: [],
    reports: [{ sentence: "Milk is good." }, { sentence: "Have some." }],
  });
  const calls =
    await agent.sql`select name, state, result, error_code, logs, extra_answers from tool_calls order by name`;
  expect(calls).toMatchObject([
    { name: "fail", state: "error", error_code: "no_access", extra_answers: [] },
    {
      name: "look_up",
      state: "success",
      result: { meaning: "milk is good" },
      logs: ["looking for milk"],
      extra_answers: [],
    },
  ]);
  expect(agent.model.rejections).toEqual([]);
});

test("stop ends the answer and cancels the running tool", async () => {
  await using agent = await TestAgent.start();
  agent.model.script(scriptOf("scan"));
  const { untilReported, cue, end } = await play("stop", agent.roomName);
  await untilReported({ tool: "started" });

  cue("stop");

  expect(await end()).toEqual({
    code: 0,
    stderr: [],
    reports: [{ tool: "started" }, { tool: "cancelled" }, { answer: "" }],
  });
  expect(await agent.calls()).toMatchObject([{ name: "scan", state: "cancelled" }]);
});

test("the model sees a message's attachments and the content from a tool, and a message can be edited", async () => {
  await using agent = await TestAgent.start();
  agent.model.script([reply([toolUse("look")]), reply([text("A cat.")]), reply([text("A dog.")])]);

  const { end } = await play("show", agent.roomName);

  expect(await end()).toEqual({
    code: 0,
    stderr: [],
    reports: [{ answer: "A cat.", shown: [{ title: "The view" }] }, { answer: "A dog." }],
  });
  const data = Buffer.from(PNG).toString("base64");
  const picture = { type: "image", source: { type: "base64", media_type: "image/png", data } };
  expect(messagesTo(agent, 1)[0]?.content).toMatchObject([picture, { type: "document", source: { data: "Milk" } }]);
  expect(messagesTo(agent, 1).at(-1)?.content[0]?.content).toContainEqual(expect.objectContaining(picture));
  expect(messagesTo(agent)[0]?.content.at(-1)?.text).toContain("And now?");
  expect(agent.model.rejections).toEqual([]);
});

test("a tool's form is filled in, and shown again when the answer is invalid", async () => {
  const book = defineTool({
    description: "Books a table.",
    input: z.object({}),
    run: (_, { elicit }) => elicit({ message: "For how many?", schema: z.object({ guests: z.int().max(12) }) }),
  });
  await using agent = await TestAgent.start({ tools: { book } });
  agent.model.script([reply([toolUse("book")]), reply([text("A table for four.")])]);

  const { end } = await play("form", agent.roomName);

  const form = "For how many?";
  expect(await end()).toEqual({
    code: 0,
    stderr: [],
    reports: [{ form, problem: false }, { form, problem: true }, { answer: "A table for four." }],
  });
  const booked = (await agent.calls()).find(({ name }) => name === "book");
  expect(booked).toMatchObject({ state: "success", result: { action: "accept", content: { guests: 4 } } });
});

test("the permission handler's answers determine what runs", async () => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool } });
  agent.model.script([
    reply([toolUse("write", { path: "notes/a.md" })]),
    reply([toolUse("write", { path: "secret" })]),
    reply([text("One of two.")]),
  ]);

  const { end } = await play("permission", agent.roomName);

  const { code, reports } = await end();
  expect(code).toBe(0);
  expect(reports).toEqual([
    { asked: "Write notes/a.md" },
    { closed: "approved" },
    { asked: "Write secret" },
    { closed: "rejected" },
    { answer: "One of two." },
  ]);
  expect(ran).toEqual(["notes/a.md"]);
  expect(await agent.sql`select state, message from permissions order by created_at`).toMatchObject([
    { state: "approved" },
    { state: "rejected", message: "That is mine" },
  ]);
});

test("a failed turn raises the worker's error with its name", async () => {
  await using agent = await TestAgent.start({ retryBudgetMs: 0 });
  agent.model.script([httpError(529)]);

  const { end } = await play("ask", agent.roomName);

  expect(await end()).toMatchObject({ code: 0, reports: [{ error: "unavailable" }] });
});

test("a tool that runs while the client is away runs once, and its result counts", async () => {
  await using agent = await TestAgent.start();
  agent.model.script(scriptOf("scan"));
  const { untilReported, cue, end } = await play("leave", agent.roomName);
  await untilReported({ tool: "started" });

  cue("leave");
  await untilReported({ room: "left" });
  cue("scan");
  await untilReported({ tool: "ended" });
  cue("return");

  const { code, reports } = await end();
  expect(code).toBe(0);
  expect(reports.filter(({ tool }) => tool !== undefined)).toEqual([{ tool: "started" }, { tool: "ended" }]);
  expect(reports.at(-1)).toEqual({ answer: "Done." });
  expect(await agent.calls()).toMatchObject([{ state: "success", result: { pages: 1 }, extra_answers: [] }]);
});

test("a tool that continues during a disconnection answers over the new connection, and runs once", async () => {
  await using agent = await TestAgent.start();
  agent.model.script(scriptOf("scan"));
  const { untilReported, cue, end } = await play("leave", agent.roomName);
  await untilReported({ tool: "started" });

  cue("leave");
  await untilReported({ room: "left" });
  cue("return");
  await untilReported({ room: "back" });
  cue("scan");

  const { code, reports } = await end();
  expect(code).toBe(0);
  expect(reports.filter(({ tool }) => tool === "started")).toHaveLength(1);
  expect(reports.at(-1)).toEqual({ answer: "Done." });
  expect(await agent.calls()).toMatchObject([{ state: "success", result: { pages: 1 }, extra_answers: [] }]);
});

test("an answer that continued while the client was away is sent again", async () => {
  await using agent = await TestAgent.start();
  // The model is slow, so that the answer is still running when Python has left the room. On a busy machine, leaving
  // takes long.
  agent.model.script([reply([text("One. Two. Three. Four. Five. Six.")], { slow: 300, chunking: 4 })]);
  const { untilReported, cue, end } = await play("leave", agent.roomName);
  await expect.poll(() => agent.model.requests.length, { timeout: 10_000 }).toBe(1);

  cue("leave");
  await untilReported({ room: "left" });
  cue("return");

  expect(await end()).toMatchObject({
    code: 0,
    reports: [{ room: "left" }, { room: "back" }, { answer: "One. Two. Three. Four. Five. Six." }],
  });
});

test("a broken connection to LiveKit loses neither the running call nor the answer", { timeout: 60_000 }, async () => {
  await using agent = await TestAgent.start();
  await using proxy = await TcpProxy.start(inject("livekitUrl"));
  agent.model.script(scriptOf("scan"));
  const { untilReported, cue, end } = await play("stay", agent.roomName, { url: proxy.url });
  await untilReported({ tool: "started" });

  const before = proxy.connectionCount;
  proxy.cut();
  await expect.poll(() => proxy.connectionCount, { timeout: 20_000 }).toBeGreaterThan(before);
  cue("scan");

  const { code, reports } = await end();
  expect(code).toBe(0);
  expect(reports.at(-1)).toEqual({ answer: "Done." });
  expect(reports.filter(({ tool }) => tool === "started")).toHaveLength(1);
  expect(await agent.calls()).toMatchObject([{ state: "success", result: { pages: 1 }, extra_answers: [] }]);
});

test("push-to-talk starts and ends turns, and is refused while the microphone cannot be heard", async () => {
  await warmUp();
  await using voice = await VoiceAgent.start({ settings: { turns: "manual" } });

  const { end } = await play("push_to_talk", voice.agent.roomName);

  expect(await end()).toEqual({
    code: 0,
    stderr: [],
    reports: [
      { error: "invalid_state", message: "Your microphone cannot be heard now" },
      { turn: "started" },
      { turn: "ended" },
    ],
  });
});
