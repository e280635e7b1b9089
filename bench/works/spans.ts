import { startParley } from "../arms/parley.ts";
import { OtlpReceiver } from "../../test/support/servers/otlp-receiver.ts";
import type { OtlpSpan } from "../../test/support/servers/otlp-decode.ts";
import type { FigureName } from "../report/figures.ts";
import { type Bench, repeat, type Work } from "./work.ts";

/** Measures how the time of a turn with one client tool is spent, from the spans that the turn exports. */
export const spans: Work = {
  name: "spans",
  hasArms: false,
  async run({ databaseUrl, model, extent, samples, progress }: Bench) {
    progress("spans of one turn");
    await using receiver = await OtlpReceiver.start();
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces` };
    {
      await using arm = await startParley({ databaseUrl, modelUrl: model.url, env });
      await using talk = await arm.join("tool");
      await repeat(extent.warmUp + extent.rounds * extent.questions, () => talk.ask("tool"));
    }
    const turns = [...Map.groupBy(receiver.spans, ({ traceId }) => traceId).values()].flatMap((trace) =>
      partsOf(trace),
    );
    for (const [index, parts] of turns.slice(extent.warmUp).entries())
      for (const [figure, ms] of Object.entries(parts))
        samples.add(figure as FigureName, "parley", { round: Math.floor(index / extent.questions), values: [ms] });
  },
};

function partsOf(trace: readonly OtlpSpan[]): Partial<Record<FigureName, number>>[] {
  const named = (word: string) => trace.filter(({ name }) => name.startsWith(`${word} `)).toSorted(byStart);
  const [turn] = named("invoke_agent");
  const [tool] = named("execute_tool");
  const [first, second] = named("chat");
  if (!turn || !tool || !first || !second) return [];
  return [
    {
      spanBegin: ms(turn.start, first.start),
      spanFirstCall: ms(first.start, first.end),
      spanTool: ms(tool.start, tool.end),
      spanNext: ms(tool.end, second.start),
      spanSecondCall: ms(second.start, second.end),
      spanEnd: ms(second.end, turn.end),
      spanTurn: ms(turn.start, turn.end),
    },
  ];
}

function byStart(a: OtlpSpan, b: OtlpSpan): number {
  return a.start - b.start;
}

function ms(from: number, to: number): number {
  return (to - from) / 1_000_000;
}
