import { expect, test } from "vitest";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { offeredTools, outline, toolResults } from "../../support/model-view.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { TelemetryAgent } from "../../telemetry/telemetry-agent.ts";

const tool = defineTool({ description: "Finds.", input: { type: "object" }, run: () => ({ amount: 7 }) });
const DESK = {
  instructions: "You are the front desk.",
  tools: [],
  handoffs: { billing: { when: "it is about an invoice" } },
};
const BILLING = {
  instructions: "You know invoices.",
  tools: ["find_*"],
  model: { name: "claude-other" },
  handoffs: { default: { when: "it is about anything else" } },
};
const TOOLS = { find_invoice: tool };
const toBilling = toolUse("hand_off", { to: "billing", summary: "Ana asks for invoice 7." });

const prompts = (agent: TestAgent) =>
  agent.model.requests.map(({ body }) => (body["system"] as { text: string }[])[0]?.text);

test("an agent hands the session off to another, which answers in the same turn with its own instructions, tools and model", async () => {
  await using agent = await TestAgent.start({ agent: DESK, agents: { billing: BILLING }, tools: TOOLS });
  const user = await agent.client("ana");
  agent.model.script([reply([text("One moment."), toBilling]), reply([text("It is paid.")])]);

  expect(await user.answerTo(await user.say("My invoice?"))).toBe("One moment. It is paid.");

  expect(prompts(agent)).toEqual(["You are the front desk.", "You know invoices."]);
  expect([offeredTools(agent, 0), offeredTools(agent, 1)]).toEqual([["hand_off"], ["find_invoice", "hand_off"]]);
  expect(agent.model.requests.map(({ body }) => body["model"])).toEqual(["claude-test", "claude-other"]);
  expect(await agent.calls()).toMatchObject([{ name: "hand_off", state: "success", result: { agent: "billing" } }]);
  expect(agent.model.rejections).toEqual([]);
});

test("clients are told what people see of the agent, and of the next one after a handoff", async () => {
  const desk = { ...DESK, description: "Takes your coat.", suggestions: ["Where is my room?"] };
  await using agent = await TestAgent.start({ agent: desk, agents: { billing: BILLING }, tools: TOOLS });
  const user = await agent.client("ana");
  const shown = () => user.all("configuration").at(-1)?.agent;
  const [description, suggestions] = [desk.description, desk.suggestions];
  await expect.poll(shown).toEqual({ name: "Parley", description, suggestions });
  agent.model.script([reply([toBilling]), reply([text("It is paid.")])]);

  await user.answerTo(await user.say("My invoice?"));

  await expect.poll(shown).toEqual({ name: "billing" });
});

test("the other agent hands the session back", async () => {
  await using agent = await TestAgent.start({ agent: DESK, agents: { billing: BILLING }, tools: TOOLS });
  const user = await agent.client("ana");
  agent.model.script([
    reply([toBilling]),
    reply([text("It is paid.")]),
    reply([toolUse("hand_off", { to: "default", summary: "Ana wants a room." })]),
    reply([text("A room, gladly.")]),
  ]);
  await user.answerTo(await user.say("My invoice?"));

  expect(await user.answerTo(await user.say("A room, please."))).toBe("A room, gladly.");

  expect(prompts(agent)).toEqual([
    "You are the front desk.",
    "You know invoices.",
    "You know invoices.",
    "You are the front desk.",
  ]);
});

test("the room's next worker continues with the agent that it was handed off to", async () => {
  await using agent = await TestAgent.start({ agent: DESK, agents: { billing: BILLING }, tools: TOOLS });
  const user = await agent.client("ana");
  agent.model.script([reply([toBilling]), reply([text("It is paid.")]), reply([text("Yes.")])]);
  await user.answerTo(await user.say("My invoice?"));

  await agent.leave();
  await agent.join();
  await user.configure({});
  await user.answerTo(await user.say("Really?"));

  expect(prompts(agent).at(-1)).toBe("You know invoices.");
});

test("with history summary the other agent is shown the summary in place of the conversation", async () => {
  const handoffs = { billing: { when: "it is about an invoice", history: "summary" as const } };
  await using agent = await TestAgent.start({
    agent: { ...DESK, handoffs },
    agents: { billing: BILLING },
    tools: TOOLS,
  });
  const user = await agent.client("ana");
  agent.model.script([reply([text("Hello Ana.")]), reply([toBilling]), reply([text("It is paid.")])]);
  await user.answerTo(await user.say("I am Ana, and my secret is 4711."));

  await user.answerTo(await user.say("My invoice?"));

  const shown = outline(agent).join("\n");
  expect(shown).toContain("Ana asks for invoice 7.");
  expect(shown).not.toContain("4711");
  expect(agent.model.rejections).toEqual([]);
});

test("of two summaries in one turn the last one replaces the conversation", async () => {
  const history = "summary" as const;
  const billing = { ...BILLING, handoffs: { default: { when: "it is about anything else", history } } };
  await using agent = await TestAgent.start({
    agent: { ...DESK, handoffs: { billing: { when: "it is about an invoice", history } } },
    agents: { billing },
    tools: TOOLS,
  });
  const user = await agent.client("ana");
  const toDesk = toolUse("hand_off", { to: "default", summary: "Ana asks for the way." });
  agent.model.script([reply([text("Hi.")]), reply([toBilling]), reply([toDesk]), reply([text("Left.")])]);
  await user.answerTo(await user.say("I am Ana."));
  await user.answerTo(await user.say("Hm?"));
  const before = outline(agent)[0];

  await agent.leave();
  await agent.join();
  await user.configure({});
  agent.model.script([reply([text("Right.")])]);
  await user.answerTo(await user.say("And then?"));

  expect(before).toContain("Ana asks for the way.");
  expect(before).not.toContain("Ana asks for invoice 7.");
  expect(outline(agent)[0]).toBe(before);
  expect(agent.model.rejections).toEqual([]);
});

test("a handoff to an unknown agent fails, and the first agent continues", async () => {
  const handoffs = { night_desk: { when: "it is late" } };
  await using agent = await TestAgent.start({ agent: { ...DESK, handoffs } });
  const user = await agent.client("ana");
  const toNight = toolUse("hand_off", { to: "night_desk", summary: "It is late." });
  agent.model.script([reply([toNight]), reply([text("I stay.")])]);

  expect(await user.answerTo(await user.say("Good night."))).toBe("I stay.");

  const why = 'No agent is named "night_desk"; you are still the current agent';
  expect(toolResults(agent)).toEqual([{ content: expect.stringContaining(why), isError: true }]);
  await agent.leave();
  await agent.join();
  await user.configure({});
  agent.model.script([reply([text("Yes.")])]);
  await user.answerTo(await user.say("Still there?"));
  expect(prompts(agent)).toEqual(Array.from({ length: 3 }, () => "You are the front desk."));
});

test("a rule denies a handoff, and the first agent continues", async () => {
  const rules = [{ type: "call", pattern: "hand off *", action: "deny" as const }];
  await using agent = await TestAgent.start({
    agent: { ...DESK, permission: { rules } },
    agents: { billing: BILLING },
    tools: TOOLS,
  });
  const user = await agent.client("ana");
  agent.model.script([reply([toBilling]), reply([text("I stay.")])]);

  expect(await user.answerTo(await user.say("My invoice?"))).toBe("I stay.");

  expect(prompts(agent)).toEqual(["You are the front desk.", "You are the front desk."]);
});

test("agents that keep handing off to each other are stopped by the step limit, and the last one answers", async () => {
  await using agent = await TestAgent.start({ agent: DESK, agents: { billing: BILLING }, tools: TOOLS });
  const user = await agent.client("ana");
  const toDesk = toolUse("hand_off", { to: "default", summary: "Not about an invoice." });
  const circle = Array.from({ length: 10 }, (_, index) => reply([index % 2 === 0 ? toBilling : toDesk]));
  agent.model.script([...circle, reply([text("I am here.")])]);

  expect(await user.answerTo(await user.say("Hm?"))).toBe("I am here.");

  expect(agent.model.requests).toHaveLength(11);
  expect(prompts(agent).at(-1)).toBe("You are the front desk.");
  expect(agent.model.rejections).toEqual([]);
});

test("after a handoff the other agent's rules apply, and the first one's no longer do", async () => {
  const { tool: write, ran } = guardedTool();
  const edit = (action: "allow" | "deny") => ({ permission: { rules: [{ type: "edit", pattern: "*", action }] } });
  const desk = { instructions: "You are the front desk.", handoffs: DESK.handoffs, ...edit("deny") };
  const billing = { instructions: "You know invoices.", ...edit("allow") };
  await using agent = await TestAgent.start({
    agents: { desk, billing },
    metadata: '{"agent": "desk"}',
    tools: { write },
  });
  const user = await agent.client("ana");
  agent.model.script([
    reply([toolUse("write", { path: "by-desk" })]),
    reply([toBilling]),
    reply([toolUse("write", { path: "by-billing" })]),
    reply([text("Written.")]),
  ]);

  expect(await user.answerTo(await user.say("Write it down."))).toBe("Written.");

  expect(ran).toEqual(["by-billing"]);
});

test("in telemetry a handoff is a tool's span, and the next turn is the other agent's", async () => {
  await using talk = await TelemetryAgent.start({ agent: DESK, agents: { billing: BILLING }, tools: TOOLS });
  const { agent, receiver } = talk;
  const user = await agent.client("ana");
  agent.model.script([reply([toBilling]), reply([text("It is paid.")]), reply([text("Yes.")])]);
  await user.answerTo(await user.say("My invoice?"));
  await user.answerTo(await user.say("Really?"));
  await talk.end();

  const turns = receiver.spans.filter(({ name }) => name.startsWith("invoke_agent"));
  expect(turns.map(({ attributes }) => attributes["gen_ai.agent.name"])).toEqual(["parley", "billing"]);
  expect(receiver.named("execute_tool hand_off")).toMatchObject([{ parentSpanId: turns[0]?.spanId }]);
});
