import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../../src/client/index.ts";
import { heldTool, openRoom, openSdk, stored, toolOf, until } from "../../client/open-sdk.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { scriptOf } from "../../support/client-tool.ts";

test("a client that leaves and comes back with a running tool finishes the open request, and runs it once", async () => {
  await using agent = await TestAgent.start();
  const { tool, signals, finish } = heldTool();
  const { room, parley } = await openSdk(agent, "user", [tool]);
  agent.model.script(scriptOf("scan"));
  parley.sendText("Go");
  await until(() => signals.length === 1, "the tool's start");

  await room.disconnect();
  parley.rejoin(await openRoom(agent, "user"));
  await parley.whenConnected(5_000);
  finish({ ok: 1 });

  await until(async () => (await stored(agent))[0]?.state === "success", "the call's end");
  expect(signals.length).toBe(1);
  expect(await stored(agent)).toMatchObject([{ result: { ok: 1 } }]);
});

test("a tool that ended while the client was away is not run again: the same request gets the stored result", async () => {
  await using agent = await TestAgent.start();
  const { tool, signals, finish } = heldTool();
  const { room, parley } = await openSdk(agent, "user", [tool]);
  agent.model.script(scriptOf("scan"));
  parley.sendText("Go");
  await until(() => signals.length === 1, "the tool's start");

  await room.disconnect();
  finish({ ok: 1 });
  await until(() => parley.runningToolCount === 0, "the tool's end");
  parley.rejoin(await openRoom(agent, "user"));

  await until(async () => (await stored(agent))[0]?.state === "success", "the call's end");
  expect(signals.length).toBe(1);
  expect(await stored(agent)).toMatchObject([{ result: { ok: 1 } }]);
});

test("an answer that continued while the client was away is sent again", async () => {
  await using agent = await TestAgent.start();
  const { room, parley } = await openSdk(agent, "user");
  await parley.whenConnected(5_000);
  agent.model.script([reply([text("One. Two. Three. Four. Five. Six.")], { slow: 60, chunking: 4 })]);
  const answer = parley.ask("Count");
  answer.catch(() => {});
  await new Promise((resolve) => parley.on("sentence", resolve));

  await room.disconnect();
  parley.rejoin(await openRoom(agent, "user"));

  expect((await answer).text).toBe("One. Two. Three. Four. Five. Six.");
});

test("a phone and a laptop in one room each run their own tool, in anyone's turn, if it is for the room", async () => {
  await using agent = await TestAgent.start();
  const ran: string[] = [];
  const named = (name: string, device: string) =>
    toolOf(
      () => {
        ran.push(`${name} on ${device}`);
      },
      { name, scope: "room" },
    );
  const phone = await openSdk(agent, "phone", [named("call", "phone"), named("show", "phone")]);
  const laptop = await openSdk(agent, "laptop", [named("print", "laptop"), named("show", "laptop")]);
  const script = [reply([toolUse("call"), toolUse("print"), toolUse("show")]), reply([text("Done.")])];
  agent.model.script([...script, ...script]);

  await phone.parley.ask("Go");
  expect(ran.splice(0).toSorted()).toEqual(["call on phone", "print on laptop", "show on phone"]);
  await laptop.parley.ask("Go");
  expect(ran.toSorted()).toEqual(["call on phone", "print on laptop", "show on laptop"]);
});

test("a worker that leaves ends its open call once; the next one receives the tools and can call them", async () => {
  await using agent = await TestAgent.start();
  const { tool, signals, finish } = heldTool();
  const { parley } = await openSdk(agent, "user", [tool]);
  agent.model.script([reply([toolUse("scan")])]);
  parley.sendText("Go");
  await until(() => signals.length === 1, "the tool's start");

  await agent.leave();
  await until(() => !parley.isConnected && parley.runningToolCount === 0, "the worker's absence");
  await agent.join();
  await parley.whenConnected(5_000);
  finish({ ok: 1 });
  agent.model.script(scriptOf("scan"));

  expect(await parley.ask("Again")).toMatchObject({ text: "Done.", toolResults: [{ result: { ok: 1 } }] });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  expect(await stored(agent)).toMatchObject([
    { state: "error", error_code: "outcome_unknown" },
    { state: "success", result: { ok: 1 } },
  ]);
});

test("two clients without tracks that join and speak at the same moment are both answered", async () => {
  await using agent = await TestAgent.start();
  const hello = [reply([text("Hello.")])];
  agent.model.script([...hello, ...hello]);
  const askAtOnce = async (identity: string) => {
    const room = await openRoom(agent, identity, { canPublish: false });
    const parley = await connect(room, { waitForAgentMs: 0 });
    onTestFinished(() => parley.close());
    return (await parley.ask(`Hi from ${identity}`, { timeoutMs: 12_000 })).text;
  };

  expect(await Promise.all(["anna", "bob"].map(askAtOnce))).toEqual(["Hello.", "Hello."]);
});
