import { Room } from "@livekit/rtc-node";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  type ClientTool,
  connect,
  type Parley,
  roomTransport,
  ToolError,
  type Transport,
} from "../../../src/client/index.ts";
import { decodeEnvelope } from "../../../src/protocol/codec/decode-envelope.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { heldTool, joinRoom, openRoom, openSdk, stored, toolOf, until } from "../../client/open-sdk.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { scriptOf } from "../../support/client-tool.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { offeredTools } from "../../support/model-view.ts";

test("tools registered before and after joining are offered, called and answered", async () => {
  await using agent = await TestAgent.start();
  const room = await openRoom(agent, "user");
  const parley = await connect(room, { waitForAgentMs: 0 });
  onTestFinished(() => parley.close());
  parley.registerTool(toolOf(() => ({ from: "before" }), { name: "before" }));
  await parley.whenConnected(5_000);
  parley.registerTool({
    name: "after",
    description: "Adds.",
    input: z.object({ a: z.number(), b: z.number() }),
    run: ({ a, b }) => a + b,
  });
  await parley.whenConnected(5_000);
  agent.model.script([
    reply([toolUse("before"), toolUse("after", { a: 2, b: 3 })]),
    reply([text("Both."), text(" Done.")]),
  ]);

  const answer = await parley.ask("Go");

  expect(answer.text).toBe("Both. Done.");
  expect(answer.toolResults).toHaveLength(2);
  expect(offeredTools(agent).toSorted()).toEqual(["after", "before"]);
  expect(await stored(agent)).toMatchObject([
    { name: "after", state: "success", result: { value: 5 } },
    { name: "before", state: "success", result: { from: "before" } },
  ]);
});

test("a room that connects later has been joined by then", async () => {
  await using agent = await TestAgent.start();
  const room = new Room();
  onTestFinished(() => room.disconnect());
  const parley = await connect(room);
  onTestFinished(() => parley.close());
  parley.registerTool(toolOf(() => ({ ok: true })));
  agent.model.script(scriptOf("scan"));

  await joinRoom(room, agent, { identity: "user" });

  expect(await parley.ask("Go")).toMatchObject({ text: "Done.", toolResults: [{ result: { ok: true } }] });
});

const failures: [string, ClientTool["run"], Record<string, unknown>][] = [
  [
    "a throw is an execution error",
    () => {
      throw new Error("Paper jam");
    },
    { state: "error", error_code: "execution_error", error_message: "Paper jam" },
  ],
  [
    "a partial result is kept beside the error",
    () => {
      throw new ToolError("execution_error", "Paper jam", { result: { pages: 2 } });
    },
    { state: "error", error_code: "execution_error", error_message: "Paper jam", result: { pages: 2 } },
  ],
  [
    "a code of the tool's own is kept",
    () => {
      throw new ToolError("no_access", "The folder is not shared");
    },
    { state: "error", error_code: "no_access", error_message: "The folder is not shared" },
  ],
  ["an empty return is an empty result", () => {}, { state: "success", result: {}, error_code: null }],
  [
    "a result that cannot be encoded is an execution error",
    () => ({ run: () => 0 }),
    { error_code: "execution_error", error_message: "The result cannot be encoded: A function cannot be encoded" },
  ],
  [
    "a result that is too large is said to be",
    () => "x".repeat(1_100_000),
    {
      error_code: "result_too_large",
      error_message: "The result is too large to send: A string is over 1048576 bytes",
    },
  ],
];
test.each(failures)("%s at the worker", async (_title, run, expected) => {
  await using agent = await TestAgent.start();
  const { parley } = await openSdk(agent, "user", [toolOf(run)]);
  agent.model.script(scriptOf("scan"));

  await parley.ask("Go");

  expect(await stored(agent)).toMatchObject([expected]);
});

/**
 * A client that no longer has a tool which the worker still offers, because the Configuration that withdraws the tool
 * is lost.
 */
async function openWithout(agent: TestAgent, tool: ClientTool): Promise<Parley> {
  const transport = roomTransport(await openRoom(agent, "user"));
  const lossy = (send: Transport["sendPacket"]): Transport["sendPacket"] => {
    return async (bytes, to) => {
      const incoming = decodeEnvelope(bytes);
      const isLost = isGone && "message" in incoming && incoming.message.type === "configuration";
      if (!isLost) await send(bytes, to);
    };
  };
  let isGone = false;
  const { sendPacket, sendStream } = transport;
  const overrides = { sendPacket: lossy(sendPacket), sendStream: lossy(sendStream) };
  // Inherits the transport's getters. A copy would evaluate them once.
  const parley = await connect(Object.assign(Object.create(transport) as Transport, overrides));
  onTestFinished(() => parley.close());
  const unregister = parley.registerTool(tool);
  await parley.whenConnected(5_000);
  isGone = true;
  parley.on("answer_start", unregister);
  return parley;
}

test("a tool that the client no longer has is answered as unknown", async () => {
  await using agent = await TestAgent.start();
  const parley = await openWithout(
    agent,
    toolOf(() => 0),
  );
  agent.model.script(scriptOf("scan"));

  await parley.ask("Go");

  expect(await stored(agent)).toMatchObject([
    { error_code: "unknown_tool", error_message: "Tool 'scan' is not supported by this client" },
  ]);
});

test("parameters that only the client's own schema refuses are invalid, and the tool is not run", async () => {
  await using agent = await TestAgent.start();
  let runs = 0;
  const { parley } = await openSdk(agent, "user");
  parley.registerTool({
    name: "scan",
    description: "Scans.",
    input: z.object({ page: z.number().refine((page) => page % 2 === 0, "only even pages") }),
    run: () => ++runs,
  });
  await parley.whenConnected(5_000);
  agent.model.script(scriptOf("scan", { page: 3 }));

  await parley.ask("Go");

  expect(runs).toBe(0);
  expect(await stored(agent)).toMatchObject([
    { error_code: "invalid_parameters", error_message: 'Invalid parameter "page": only even pages' },
  ]);
});

test("a tool that is too slow is aborted and reported as a timeout, before the worker's own deadline", async () => {
  await using agent = await TestAgent.start();
  const { tool, signals } = heldTool({ timeoutMs: 300 });
  const { parley } = await openSdk(agent, "user", [tool]);
  agent.model.script(scriptOf("scan"));

  await parley.ask("Go");

  expect(signals[0]?.aborted).toBe(true);
  expect(await stored(agent)).toMatchObject([
    { state: "error", error_code: "timeout", error_message: "Tool execution exceeded timeout of 300ms" },
  ]);
});

/** A server tool that a client may run instead. */
const both = (ran: string[]) =>
  defineTool({
    description: "B.",
    input: z.object({}),
    execution: "either",
    run: () => {
      ran.push("server");
      return "from the server";
    },
  });

test("an either tool is run by the client that has it, and not by the server", async () => {
  const ran: string[] = [];
  await using agent = await TestAgent.start({ tools: { both: both(ran) } });
  const { parley } = await openSdk(agent, "user", [
    toolOf(() => "from the client", { name: "both", execution: "either" }),
  ]);
  agent.model.script(scriptOf("both"));

  await parley.ask("Go");

  expect(ran).toEqual([]);
  expect(await stored(agent)).toMatchObject([
    { state: "success", result: { value: "from the client" }, execution_resolved: "client" },
  ]);
});

test("an either tool that the client declines is taken over by the server", async () => {
  const ran: string[] = [];
  await using agent = await TestAgent.start({ tools: { both: both(ran) } });
  const parley = await openWithout(
    agent,
    toolOf(() => 0, { name: "both", execution: "either" }),
  );
  const heard: string[] = [];
  parley.on("tool_call", ({ ranBy }) => heard.push(ranBy));
  agent.model.script(scriptOf("both"));

  await parley.ask("Go");

  expect(ran).toEqual(["server"]);
  expect(heard).toEqual(["client", "server"]);
  expect(await stored(agent)).toMatchObject([{ state: "success", execution_resolved: "server" }]);
});

test("stop ends the answer and aborts its tool", async () => {
  await using agent = await TestAgent.start();
  const { tool, signals } = heldTool();
  const { parley } = await openSdk(agent, "user", [tool]);
  agent.model.script(scriptOf("scan"));
  parley.sendText("Go");
  await until(() => signals.length === 1, "the tool's start");

  parley.stop();

  await until(() => signals[0]?.aborted === true, "the tool's abort");
  await until(async () => (await stored(agent))[0]?.state === "cancelled", "the call's end");
  expect(signals[0]?.reason).toMatchObject({ message: expect.stringContaining("The worker cancelled the call") });
});

test("a tool's log lines are on the call's record", async () => {
  await using agent = await TestAgent.start();
  const { parley } = await openSdk(agent, "user", [
    toolOf((_input, { log, progress }) => {
      log("first");
      progress(0.5);
      log("second");
    }),
  ]);
  agent.model.script(scriptOf("scan"));

  await parley.ask("Go");

  await until(async () => (await stored(agent))[0]?.logs.length !== 0, "the logs");
  expect((await stored(agent))[0]?.logs.join("\n")).toBe("first\nsecond");
});

test("vary rejects for an unknown message, and for an edit without words", async () => {
  await using agent = await TestAgent.start();
  const { parley } = await openSdk(agent, "user");
  agent.model.script([reply([text("One.")]), reply([text("Two.")])]);
  const { messageId } = await parley.ask("Go");
  const ended = Promise.withResolvers<string>();
  parley.on("answer_end", ({ text: words }) => ended.resolve(words));

  await expect(parley.vary({ targetId: "nothing", mode: "regenerate" })).rejects.toMatchObject({
    code: "conversation_not_found",
  });
  await expect(parley.vary({ targetId: messageId, mode: "edit" })).rejects.toMatchObject({ code: "malformed" });
  await parley.vary({ targetId: messageId, mode: "regenerate" });

  expect(await ended.promise).toBe("Two.");
  expect(agent.model.requests).toHaveLength(2);
});

test("a message that is still being answered can be varied, and its new answer follows", async () => {
  await using agent = await TestAgent.start();
  const { tool, signals, finish } = heldTool();
  const { parley } = await openSdk(agent, "user", [tool]);
  agent.model.script([...scriptOf("scan"), reply([text("Again.")])]);
  const answers: string[] = [];
  parley.on("answer_end", ({ text: words }) => answers.push(words));
  const { messageId } = parley.sendText("Go");
  await until(() => signals.length === 1, "the call");

  await parley.vary({ targetId: messageId, mode: "regenerate" });
  finish({ ok: true });

  await expect.poll(() => answers).toContain("Again.");
});

test("respondToPermission rejects when the answer does not count, and resolves when it does", async () => {
  const { tool } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool } });
  const room = await openRoom(agent, "user");
  const parley = await connect(room, { features: ["permissions"] });
  onTestFinished(() => parley.close());
  agent.model.script(scriptOf("write", { path: "a.md" }));
  const asked = Promise.withResolvers<string>();
  parley.on("permission_request", ({ id }) => asked.resolve(id));
  const answered = parley.ask("Write it");
  const id = await asked.promise;

  await expect(parley.respondToPermission("nothing", "once")).rejects.toMatchObject({ code: "invalid_state" });
  await expect(parley.respondToPermission(id, "once", { editedInput: { a: 1 } })).rejects.toMatchObject({
    code: "malformed",
  });
  await parley.respondToPermission(id, "once");
  await expect(parley.respondToPermission(id, "reject")).rejects.toMatchObject({
    code: "invalid_state",
    message: "The permission request is closed",
  });

  expect((await answered).toolResults).toMatchObject([{ success: true }]);
});

test("a text that the worker refuses is not acknowledged, and neither is a word that answers no permission", async () => {
  await using agent = await TestAgent.start();
  const { parley } = await openSdk(agent, "user");
  const { acknowledged } = parley.sendText("Look", { attachments: [{ data: new Uint8Array([1, 2, 3]) }] });

  await expect(acknowledged).rejects.toMatchObject({ code: "malformed" });
  await expect(parley.respondToPermission("p1", "perhaps" as "once")).rejects.toMatchObject({ code: "malformed" });
});

test("cancelCall rejects for an unknown id, and resolves for a call that has ended", async () => {
  await using agent = await TestAgent.start();
  const { parley } = await openSdk(agent, "user", [toolOf(() => ({ ok: true }))]);
  agent.model.script(scriptOf("scan"));
  const { toolResults } = await parley.ask("Go");

  await expect(parley.cancelCall("nothing")).rejects.toMatchObject({ code: "conversation_not_found" });
  await expect(parley.cancelCall(toolResults[0]?.id ?? "")).resolves.toBeUndefined();
});
