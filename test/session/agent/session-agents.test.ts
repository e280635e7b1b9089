import { pino } from "pino";
import { expect, test } from "vitest";
import type { AgentSession } from "../../../src/agent/agent-session.ts";
import { SessionAgents } from "../../../src/session/agent/session-agents.ts";

test("a function is asked again when the participant's hour is another one, and not within it", async () => {
  const hours: (number | undefined)[] = [];
  const instructions = ({ participants: [first] }: AgentSession) => {
    hours.push(first?.localTime.hour);
    return `It is about ${first?.localTime.hour} o'clock.`;
  };
  let now = Date.parse("2026-11-22T10:01:00Z");
  const standard = { name: "default", instructions } as never;
  const participants = [{ identity: "ana", name: "", attributes: { timeZone: "Europe/Berlin" }, isPhone: false }];
  const agents = new SessionAgents({
    agents: new Map([["default", standard]]),
    standard,
    dispatch: "",
    lookAt: () => ({ name: "kitchen", metadata: "", participants }),
    logger: pino({ enabled: false }),
    now: () => now,
  });
  agents.noteConnected();
  const prompts: string[] = [];
  for (const minutes of [0, 30, 28, 2]) {
    now += minutes * 60_000;
    await agents.prepare(() => undefined);
    prompts.push(agents.instructions);
  }

  expect(hours).toEqual([11, 12]);
  expect(prompts.map((prompt) => prompt.slice(12, 14))).toEqual(["11", "11", "11", "12"]);
});
