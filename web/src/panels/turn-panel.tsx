import type { ReactNode } from "react";
import { useEventLog } from "./event-log.tsx";
import { type Bar, toWaterfalls } from "./waterfall.ts";

/** The newest turns as bars on one line of time, as this page saw them. */
export function TurnPanel(): ReactNode {
  const events = useEventLog();
  const turns = toWaterfalls(events).slice(-5).toReversed();
  if (turns.length === 0)
    return <p className="hint">After a turn its parts stand here: the model, each tool, the waits.</p>;
  return (
    <>
      {turns.map(({ id, totalMs, bars }) => (
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
          style={{ marginLeft: share(fromMs), width: share(Math.max(1, toMs - fromMs)) }}
        />
      </span>
    </li>
  );
}

function toTime(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`;
}
