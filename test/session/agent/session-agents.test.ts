import { pino } from "pino";
import { expect, test } from "vitest";
import type { AgentSession } from "../../../src/agent/agent-session.ts";
import { SessionAgents } from "../../../src/session/agent/session-agents.ts";

test("a function is called again in the participant's next hour, and not within the same hour", async () => {
  const hours: (number | undefined)[] = [];
  const instructions = ({ participants: [first] }: AgentSession) => {
    hours.push(first?.localTime.hour);
    return `It is about ${first?.localTime.hour} o'clock.`;
  };
  let now = Date.parse("2026-11-22T10:01:00Z");
  const defaultAgent = { name: "default", instructions } as never;
  const participants = [{ identity: "ana", name: "", attributes: { timeZone: "Europe/Berlin" }, isPhone: false }];
  const agents = new SessionAgents({
    agents: new Map([["default", defaultAgent]]),
    defaultAgent,
    dispatch: "",
    readRoom: () => ({ name: "kitchen", metadata: "", participants }),
    logger: pino({ enabled: false }),
    now: () => now,
  });
  agents.handleConnected();
  const prompts: string[] = [];
  for (const minutes of [0, 30, 28, 2]) {
    now += minutes * 60_000;
    await agents.prepare();
    prompts.push(agents.instructions);
  }

  expect(hours).toEqual([11, 12]);
  expect(prompts.map((prompt) => prompt.slice(12, 14))).toEqual(["11", "11", "11", "12"]);
});

const AGENTS = ["default", "billing"].map((name) => ({ name, instructions: `You are ${name}.` }) as never);

/** The agents for a room whose job has no metadata. LiveKit lists these dispatches for the room. */
function openAgents(dispatches: readonly { readonly id: string; readonly metadata: string }[]) {
  const lines: Record<string, unknown>[] = [];
  const [defaultAgent] = AGENTS;
  const agents = new SessionAgents({
    agents: new Map([
      ["default", AGENTS[0] as never],
      ["billing", AGENTS[1] as never],
    ]),
    defaultAgent: defaultAgent as never,
    dispatch: "",
    listDispatches: async () => dispatches,
    readRoom: () => ({ name: "kitchen", metadata: "", participants: [] }),
    logger: pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line) as never) }),
  });
  agents.handleConnected();
  return { agents, lines };
}

const BILLING = { id: "AD_1", metadata: '{"agent": "billing", "caller": "ana"}' };

test("of two dispatches for a room the one with an agent decides, and the first turn waits for it", async () => {
  const { agents } = openAgents([{ id: "AD_2", metadata: "" }, BILLING]);
  void agents.readDispatches();
  await agents.prepare();

  expect(agents.current.name).toBe("billing");
  expect(agents.session.metadata).toEqual({ agent: "billing", caller: "ana" });
});

test("a dispatch that arrives after the first turn has started is not used, which is logged once", async () => {
  const dispatches: (typeof BILLING)[] = [];
  const { agents, lines } = openAgents(dispatches);
  await agents.readDispatches();
  await agents.prepare();
  dispatches.push(BILLING);
  await agents.readDispatches();
  await agents.readDispatches();

  expect(agents.current.name).toBe("default");
  expect(lines).toMatchObject([
    {
      dispatchId: "AD_1",
      agent: "billing",
      serving: "default",
      msg: "dispatch metadata ignored, a turn has already started",
    },
  ]);
});
