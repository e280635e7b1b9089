import { type SpokenTurn, textOf, type TurnTimings, useMessage, useToolCalls } from "@parley/react";
import { type ReactNode, useMemo } from "react";
import { useJoinedTalk } from "../../join/joined-talk.tsx";
import { toVisible } from "../../shared/exact-json.ts";
import { loadTurns } from "../../shared/worker-api.ts";
import { useRecord } from "../../shared/use-record.tsx";
import { toTitle } from "../../tools/describe-call.ts";
import { toTime } from "./to-time.ts";
import { Trends } from "./trends.tsx";
import { useTurnLog } from "./turn-log.tsx";
import { type Bar, type TimedCall, toWaterfall } from "./waterfall.ts";
import { useWords } from "../../shared/words/words.ts";

const NEWEST = 5;
const NONE: readonly SpokenTurn[] = [];

/** Shows how timings changed over the turns, and the newest turns as waterfalls, as measured by the worker. */
export function TurnPanel(): ReactNode {
  const { developer: words } = useWords();
  const { token } = useJoinedTalk();
  const { value: stored = NONE, problem } = useRecord(token, loadTurns);
  const ended = useTurnLog();
  const turns = useMemo(() => [...new Map([...timingsOf(stored), ...ended])], [stored, ended]);
  const calls = useToolCalls();
  // Live calls come first, because they are newer than the record.
  const known = useMemo(() => {
    return [...calls, ...callsOf(stored)].map((call) => ({ ...call, name: toTitle(call.name) }));
  }, [stored, calls]);
  if (turns.length === 0) return problem || <p className="hint">{words.noTurns}</p>;
  return (
    <>
      <Trends turns={turns.map(([, timings]) => timings)} />
      {turns
        .slice(-NEWEST)
        .toReversed()
        .map(([turnId, timings]) => (
          <WaterfallView
            key={turnId}
            turnId={turnId}
            asked={stored.find((turn) => turn.turnId === turnId)?.said}
            timings={timings}
            calls={known}
          />
        ))}
    </>
  );
}

interface WaterfallProps {
  readonly turnId: string;
  /** The turn's question, from the record. */
  readonly asked: string | undefined;
  readonly timings: TurnTimings;
  readonly calls: readonly TimedCall[];
}

function WaterfallView({ turnId, asked, timings, calls }: WaterfallProps): ReactNode {
  const { developer: words, quote } = useWords();
  const { totalMs, bars } = toWaterfall(timings, calls, words.bars);
  const question = useMessage(useMessage(turnId)?.replyTo ?? "");
  const said = question ? textOf(question) : asked;
  return (
    <section className="waterfall">
      <h3 className="turn-title">
        <span>{said === undefined ? words.byAgent : <bdi>{quote(toVisible(said))}</bdi>}</span>{" "}
        <small>{words.total(toTime(totalMs))}</small>
      </h3>
      <ol>
        {bars.map((bar, index) => (
          <BarView key={index} bar={bar} totalMs={totalMs} />
        ))}
      </ol>
    </section>
  );
}

function BarView({
  bar: { name, kind, fromMs, toMs },
  totalMs,
}: {
  readonly bar: Bar;
  readonly totalMs: number;
}): ReactNode {
  const share = (ms: number) => `${(100 * ms) / Math.max(1, totalMs)}%`;
  return (
    <li>
      <span className="bar-name">
        <span>{name}</span> <small>{toTime(toMs - fromMs)}</small>
      </span>
      <span className="track" aria-hidden="true">
        <span
          className={`bar-line ${kind}`}
          style={{ marginInlineStart: `min(${share(fromMs)}, 100% - 2px)`, width: share(Math.max(1, toMs - fromMs)) }}
        />
      </span>
    </li>
  );
}

function timingsOf(turns: readonly SpokenTurn[]): readonly (readonly [turnId: string, timings: TurnTimings])[] {
  return turns.flatMap(({ turnId, timings }) => (timings ? [[turnId, timings] as const] : []));
}

function callsOf(turns: readonly SpokenTurn[]): readonly TimedCall[] {
  const tools = turns.flatMap(({ answer }) => answer.filter((part) => part.type === "tool"));
  return tools.map(({ callId, state, ...tool }) => ({ ...tool, id: callId, status: state }));
}
