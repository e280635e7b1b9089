import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { agentSchema, type AgentSettings } from "../../../src/agent/agent-fields.ts";
import { Initiative } from "../../../src/session/agent/initiative.ts";
import type { ServedAgent } from "../../../src/session/agent/served-agent.ts";
import { SessionAgents } from "../../../src/session/agent/session-agents.ts";
import { CallEnd } from "../../../src/session/agent/call-end.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const logger = pino({ enabled: false });

function agentWith(name: string, idle: AgentSettings["idle"]): ServedAgent {
  return { ...agentSchema.parse({ instructions: "x", idle }), name } as unknown as ServedAgent;
}

/** A silent room with ana and agents that have these idle settings. The first agent serves it. */
function quietRoom(
  idles: Readonly<Record<string, AgentSettings["idle"]>>,
  { onBegin = () => {}, untilQuiet = async () => {} } = {},
) {
  const said: unknown[] = [];
  const all = Object.entries(idles).map(([name, idle]) => agentWith(name, idle));
  const [defaultAgent = agentWith("none", [])] = all;
  const agents = new SessionAgents({
    agents: new Map(all.map((agent) => [agent.name, agent])),
    defaultAgent,
    dispatch: "",
    readRoom: () => ({ name: "kitchen", metadata: "", participants: [] }),
    logger,
  });
  agents.handleConnected();
  const hungUp: unknown[] = [];
  const callEnd = new CallEnd({ hangUp: async (identity) => void hungUp.push(identity) }, logger);
  const initiative = new Initiative({
    agents,
    archive: { hasTurnsOf: async () => true },
    participants: { isPresent: () => true, present: [{ identity: "ana" }] } as never,
    begin: (turn) => {
      onBegin();
      if ("input" in turn) said.push(...turn.input.map((each) => ("say" in each ? each.say : undefined)));
    },
    callEnd,
    voice: { untilQuiet },
    isPause: () => true,
    logger,
  });
  return { agents, initiative, said, callEnd, hungUp };
}

test("an agent that takes over starts with its own first idle step", async () => {
  const { agents, initiative, said } = quietRoom({
    desk: [{ afterMs: 1_000, say: "Desk?" }],
    billing: [
      { afterMs: 1_000, say: "Billing?" },
      { afterMs: 1_000, say: "Still billing?" },
    ],
  });
  initiative.handleUserActivity("ana");
  await vi.advanceTimersByTimeAsync(1_500);

  await agents.handOff("billing");
  await vi.advanceTimersByTimeAsync(1_500);

  expect(said).toEqual(["Desk?", "Billing?"]);
});

test("last words that cannot be spoken do not make the next turn end the call", async () => {
  const refuse = () => {
    throw new Error("too many turns");
  };
  const { initiative, callEnd, hungUp } = quietRoom(
    { desk: [{ afterMs: 1_000, end: "Goodbye." }] },
    { onBegin: refuse },
  );
  initiative.handleUserActivity("ana");
  await vi.advanceTimersByTimeAsync(1_500);

  const event = { type: "turn_complete", state: "completed" };
  callEnd.watch({ type: "turn", turn: { participantIdentity: "ana", input: [] }, event } as never);
  await vi.advanceTimersByTimeAsync(60_000);

  expect(hungUp).toEqual([]);
});

test("a participant who speaks when a step is due is not spoken over, and the step's time starts again after the last word", async () => {
  const quiet = Promise.withResolvers<void>();
  const idle = [{ afterMs: 1_000, say: "Are you there?" }];
  const { initiative, said } = quietRoom({ desk: idle }, { untilQuiet: () => quiet.promise });
  initiative.handleUserActivity("ana");

  await vi.advanceTimersByTimeAsync(5_000);
  quiet.resolve();
  await vi.advanceTimersByTimeAsync(900);
  const soon = [...said];
  await vi.advanceTimersByTimeAsync(200);

  expect([soon, said]).toEqual([[], ["Are you there?"]]);
});

test("a silence starts when the agent's last word was heard, not when its turn has ended", async () => {
  const { initiative, said } = quietRoom({ desk: [{ afterMs: 1_000, say: "Are you there?" }] });
  initiative.handleUserActivity("ana");
  const turn = { participantIdentity: "ana", input: [] };

  await vi.advanceTimersByTimeAsync(900);
  initiative.watch({ type: "turn", turn, event: { type: "turn_spoken", state: "completed" } } as never);
  await vi.advanceTimersByTimeAsync(900);
  const soon = [...said];
  await vi.advanceTimersByTimeAsync(200);

  expect([soon, said]).toEqual([[], ["Are you there?"]]);
});
