import type { ReactNode } from "react";
import { CopyAsTest } from "./copy-as-test.tsx";
import { useUsageLog } from "./usage-log.tsx";
import { useWords } from "../../shared/words/words.ts";
import { toNumber, toPercent } from "../../shared/words/formats.ts";

/** The conversation as a test, and its cost. */
export function SessionPanel(): ReactNode {
  return (
    <>
      <CopyAsTest />
      <Spent />
    </>
  );
}

function Spent(): ReactNode {
  const { developer: words, colon } = useWords();
  const { usage } = useUsageLog();
  return (
    <section>
      <h3>{words.cost}</h3>
      {usage === undefined || usage.models.length === 0 ? (
        <p className="hint">{words.nothingYet}</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">{words.bars.model}</th>
              <th scope="col">{words.calls}</th>
              <th scope="col">{words.input}</th>
              <th scope="col">{words.output}</th>
            </tr>
          </thead>
          <tbody>
            {usage.models.map(({ model, purpose, calls, inputTokens, outputTokens, cacheReadTokens }) => (
              <tr key={`${model} ${purpose}`}>
                <td>{model}</td>
                <td>{toNumber(calls)}</td>
                <td>{toNumber(inputTokens + cacheReadTokens)}</td>
                <td>{toNumber(outputTokens)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {usage?.budgets.map(
        ({ budget, share }) =>
          share !== undefined && (
            <label key={budget} className="field">
              {budget === "session" ? words.conversationBudget : words.dailyBudget}
              {colon}
              {toPercent(share)}
              <meter min={0} max={1} high={0.8} value={Math.min(1, share)} />
            </label>
          ),
      )}
    </section>
  );
}
