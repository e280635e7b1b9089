import { useUsage } from "@parley/react";
import { type ReactNode, useEffect, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { loadTranscript } from "../shared/read-record.ts";

/** What the talk has cost, and the whole of it to take away. */
export function TalkPanel(): ReactNode {
  const { token, room } = useJoinedTalk();
  const { usage, refresh } = useUsage();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    refresh().catch(() => {});
  }, [refresh]);
  const download = async (format: "markdown" | "json") => {
    setProblem(undefined);
    try {
      save(await loadTranscript(token, format), `${room}.${format === "markdown" ? "md" : "json"}`);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <section>
        <h2>Transcript</h2>
        <p className="row">
          <button type="button" onClick={() => void download("markdown")}>
            Markdown
          </button>
          <button type="button" onClick={() => void download("json")}>
            JSON
          </button>
        </p>
        {problem !== undefined && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
      </section>
      <section>
        <h2>Spent</h2>
        {usage === undefined || usage.models.length === 0 ? (
          <p className="hint">Nothing yet.</p>
        ) : (
          <table>
            <thead>
              <tr>
                <th scope="col">Model</th>
                <th scope="col">Calls</th>
                <th scope="col">In</th>
                <th scope="col">Out</th>
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
                {budget === "session" ? "Budget of this talk" : "Your budget of today"}: {Math.round(share * 100)} %
                <meter min={0} max={1} high={0.8} value={Math.min(1, share)} />
              </label>
            ),
        )}
      </section>
    </>
  );
}

function save(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1_000);
}
