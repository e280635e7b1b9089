import type { ReactNode } from "react";
import { useUsageLog } from "./usage-log.tsx";
import type { TurnTimings } from "@parley/react";
import { useWords } from "../../shared/words/words.ts";
import { toNumber } from "../../shared/words/formats.ts";
import { toTime } from "./to-time.ts";

const SHOWN = 40;
/** How many bars the width has space for, at least. Otherwise, the bars of a short conversation would be too wide. */
const SHOWN_AT_LEAST = 12;

/** Shows how the turns' timings and tokens changed over the conversation. */
export function Trends({ turns }: { readonly turns: readonly TurnTimings[] }): ReactNode {
  const { developer: words } = useWords();
  const { tokensOfTurns } = useUsageLog();
  return (
    <section>
      <h3>{words.trends}</h3>
      <Trend name={words.firstWord} values={turns.flatMap(({ firstTextMs }) => firstTextMs ?? [])} toText={toTime} />
      <Trend name={words.wholeTurn} values={turns.map(({ totalMs }) => totalMs)} toText={toTime} />
      <Trend name={words.tokens} values={tokensOfTurns} toText={(count) => toNumber(count)} />
    </section>
  );
}

interface TrendProps {
  readonly name: string;
  readonly values: readonly number[];
  readonly toText: (value: number) => string;
}

/** Draws a bar per turn, newest on the right. The text shows the newest, the median and the highest value. */
function Trend({ name, values, toText }: TrendProps): ReactNode {
  const { developer: words } = useWords();
  const shown = values.slice(-SHOWN);
  const last = shown.at(-1);
  if (last === undefined) return null;
  const width = Math.max(SHOWN_AT_LEAST, shown.length);
  const highest = Math.max(...shown, 1);
  const middle = shown.toSorted((left, right) => left - right)[Math.floor((shown.length - 1) / 2)] ?? last;
  return (
    <figure className="trend">
      <figcaption>
        <span>{name}</span> <strong>{toText(last)}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${width} 10`} preserveAspectRatio="none" aria-hidden="true">
        {shown.map((value, index) => {
          const height = Math.max(0.4, (10 * value) / highest);
          return <rect key={index} x={index + 0.1} y={10 - height} width={0.8} height={height} />;
        })}
      </svg>
      <small>{words.medianAndHighest(toText(middle), toText(highest))}</small>
    </figure>
  );
}
