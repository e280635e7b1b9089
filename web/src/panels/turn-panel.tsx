import type { ReactNode } from "react";
import { useEventLog } from "./event-log.tsx";
import { toTime } from "./to-time.ts";
import { Trends } from "./trends.tsx";
import { type Bar, toWaterfalls } from "./waterfall.ts";

const NEWEST = 5;

/** The times of turns as this page saw them: their trends, and the newest turns as bars on a line of time. */
export function TurnPanel(): ReactNode {
  const events = useEventLog();
  const turns = toWaterfalls(events);
  if (turns.length === 0)
    return <p className="hint">After a turn its parts stand here: the model, each tool, the waits.</p>;
  return (
    <>
      <Trends turns={turns} />
      {turns
        .slice(-NEWEST)
        .toReversed()
        .map(({ id, totalMs, bars }) => (
          <section key={id} className="waterfall">
            <h2>{toTime(totalMs)} in all</h2>
            <ol>
              {bars.map((bar, index) => (
                <BarView key={index} bar={bar} totalMs={totalMs} />
              ))}
            </ol>
          </section>
        ))}
    </>
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
        {name} <small>{toTime(toMs - fromMs)}</small>
      </span>
      <span className="track" aria-hidden="true">
        <span
          className={`bar-line ${kind}`}
          style={{ marginLeft: `min(${share(fromMs)}, 100% - 2px)`, width: share(Math.max(1, toMs - fromMs)) }}
        />
      </span>
    </li>
  );
}
