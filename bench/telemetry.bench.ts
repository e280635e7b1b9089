import { ProxyTracerProvider } from "@opentelemetry/api";
import { pino } from "pino";
import { expect, test } from "vitest";
import { z } from "zod";
import { createTelemetry } from "../src/telemetry/telemetry.ts";
import { defineTool } from "../src/tool/define-tool.ts";
import { TestAgent, type AgentOptions } from "../test/support/agent.ts";
import { reply, text, toolUse } from "../src/model-server/step.ts";
import type { Participant } from "../test/support/participant.ts";
import { ExportedTelemetry } from "../test/telemetry/exported-telemetry.ts";

const PAIRS = 300;
const WARM_UP = 20;
/**
 * Telemetry that records nothing. It has its own provider, because the default would be this process's global provider.
 */
const UNWATCHED = createTelemetry({}, { tracerProvider: new ProxyTracerProvider() });
const look = defineTool({ description: "Looks.", input: z.object({}), run: () => ({ seen: 3 }) });

/** Scripts a turn with two model calls, one tool call and about a hundred deltas. */
function script(agent: TestAgent): void {
  const words = "It is ten past two, and the sun is out. ".repeat(10);
  agent.model.script([reply([toolUse("look")]), reply([text(words)], { chunking: 4 })]);
}

interface Cost {
  readonly ms: number;
  /**
   * CPU time of this process, including the participant and the model. Other programs affect it less than they affect
   * elapsed time.
   */
  readonly cpuMs: number;
}

async function costOfTurn(agent: TestAgent, user: Participant): Promise<Cost> {
  script(agent);
  const from = performance.now();
  const before = process.cpuUsage();
  await user.answerTo(await user.say("Go"));
  const { user: own, system } = process.cpuUsage(before);
  return { ms: performance.now() - from, cpuMs: (own + system) / 1_000 };
}

/**
 * Measures two sessions alternately, one with telemetry and one without, so that the machine's load is the same for
 * both.
 */
test("what telemetry costs a turn", async () => {
  await using exported = await ExportedTelemetry.start();
  const { telemetry, logger } = exported;
  const options: AgentOptions = { tools: { look } };
  await using off = await TestAgent.start({
    ...options,
    telemetry: UNWATCHED,
    logger: pino({ level: "info" }, { write: () => {} }),
  });
  await using on = await TestAgent.start({ ...options, telemetry, logger });
  const [unwatched, watched] = [await off.client("user"), await on.client("user")];
  const costs: { readonly off: Cost; readonly on: Cost }[] = [];
  for (let pair = -WARM_UP; pair < PAIRS; pair++) {
    // Alternates which of the two runs first.
    const first = pair % 2 === 0 ? await costOfTurn(off, unwatched) : undefined;
    const watchedCost = await costOfTurn(on, watched);
    const cost = { off: first ?? (await costOfTurn(off, unwatched)), on: watchedCost };
    if (pair >= 0) costs.push(cost);
  }
  await on.leave();
  await exported.close();
  for (const unit of ["ms", "cpuMs"] as const) {
    const [offMedian, onMedian] = [
      median(costs.map((each) => each.off[unit])),
      median(costs.map((each) => each.on[unit])),
    ];
    const ratio = (onMedian / offMedian).toFixed(3);
    console.log(
      `${PAIRS} pairs of turns, median ${unit}: off ${offMedian.toFixed(1)}, on ${onMedian.toFixed(1)}, ratio ${ratio}`,
    );
  }
  expect(exported.receiver.named("invoke_agent parley").length).toBe(PAIRS + WARM_UP);
});

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
