import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

/** `npm run test:soak-voice` runs three hundred turns. */
const TURNS = Number(process.env["VOICE_SOAK_TURNS"] ?? 6);
const QUESTION = "What time is it?";
const clock = defineTool({ description: "The time.", input: z.object({}), readOnly: true, run: () => "ten past two" });
const context = { budgetTokens: 200, hardTokens: 8_000, instructionBytes: 0 };

beforeAll(() => warmUp(QUESTION));

test(
  `in a spoken session of ${TURNS} turns each question is answered in speech, even when notes replace older turns`,
  { timeout: TURNS * 15_000 + 30_000 },
  async () => {
    await using voice = await VoiceAgent.start({ tools: { clock }, policy: { context }, summaryModel: "small" });
    const { agent } = voice;
    const user = await voice.speaker("user");
    agent.model.script(({ body }, index) => {
      if (body["model"] === "small") return reply([text("<notes>They asked for the time.</notes>")]);
      const last = (body["messages"] as { content: { type: string }[] }[]).at(-1);
      const isAnswered = last?.content.some(({ type }) => type === "tool_result") ?? false;
      return isAnswered || index % 3 > 0 ? reply([text("It is ten past two.")]) : reply([toolUse("clock")]);
    });
    voice.understand(QUESTION);
    const heardAfterMs: number[] = [];
    for (let turn = 1; turn <= TURNS; turn++) {
      const { to } = await user.say(QUESTION);
      heardAfterMs.push((await user.untilSound(to)) - to);
      await user.untilSilence();
      await expect
        .poll(() => agent.sql`select 1 from turns where spoken_at is not null and heard is null`, { timeout: 10_000 })
        .toHaveLength(turn);
    }

    const sorted = heardAfterMs.toSorted((a, b) => a - b).map(Math.round);
    const [p50, p95] = [0.5, 0.95].map((part) => sorted[Math.floor(part * sorted.length)]);
    const [stored] = await agent.sql`select count(*)::int as count from summaries`;
    process.stderr.write(
      `${JSON.stringify({ turns: TURNS, heardAfterMs: { p50, p95 }, summaries: stored?.["count"] })}\n`,
    );
    expect(stored?.["count"]).toBeGreaterThan(0);
    expect(agent.model.rejections).toEqual([]);
  },
);
