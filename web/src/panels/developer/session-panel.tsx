import type { ReactNode } from "react";
import { CopyAsTest } from "./copy-as-test.tsx";
import { useUsageLog } from "./usage-log.tsx";

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
  const { usage } = useUsageLog();
  return (
    <section>
      <h3>Cost</h3>
      {usage === undefined || usage.models.length === 0 ? (
        <p className="hint">Nothing yet.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Calls</th>
              <th scope="col">Input</th>
              <th scope="col">Output</th>
            </tr>
          </thead>
          <tbody>
            {usage.models.map(({ model, purpose, calls, inputTokens, outputTokens, cacheReadTokens }) => (
              <tr key={`${model} ${purpose}`}>
                <td>{model}</td>
                <td>{calls}</td>
                <td>{inputTokens + cacheReadTokens}</td>
                <td>{outputTokens}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {usage?.budgets.map(
        ({ budget, share }) =>
          share !== undefined && (
            <label key={budget} className="field">
              {budget === "session" ? "Budget for this conversation" : "Your budget for today"}:{" "}
              {Math.round(share * 100)} %
              <meter min={0} max={1} high={0.8} value={Math.min(1, share)} />
            </label>
          ),
      )}
    </section>
  );
}
