import { useParley } from "@parley/react";
import { type ReactNode, useEffect } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { toVisible } from "../shared/exact-json.ts";
import { readJson } from "../shared/worker-api.ts";
import { useRecord } from "../shared/use-record.tsx";

/** A session in the response of `GET /sessions`. */
interface Talk {
  readonly id: string;
  readonly room: string;
  readonly turns: number;
  readonly lastAt: number;
  readonly firstSaid: string;
}

const loadTalks = (token: string) => readJson<readonly Talk[]>(token, "/sessions");

/** The conversations in which this person has spoken, from the worker's record. Any of them can be continued. */
export function TalkList({ onOpen }: { readonly onOpen: (room: string) => void }): ReactNode {
  const { token, room } = useJoinedTalk();
  const parley = useParley();
  const { value: talks = [], problem, reload } = useRecord(token, loadTalks);
  useEffect(() => parley?.on("answer_end", () => void reload()), [reload, parley]);
  return (
    <section>
      <h2>Your conversations</h2>
      {problem ||
        (talks.length === 0 && <p className="hint">Conversations in which you have said something are listed here.</p>)}
      <ul className="rows talks">
        {talks.map((talk) => (
          <li key={talk.id} aria-current={talk.room === room}>
            <span>
              <strong>{toVisible(talk.room)}</strong>
              <small dir="auto">{toVisible(talk.firstSaid)}</small>
              <small>
                {talk.turns} {talk.turns === 1 ? "turn" : "turns"}, {toWhen(talk.lastAt)}
              </small>
            </span>
            {talk.room === room ? (
              <em>Current</em>
            ) : (
              <button type="button" onClick={() => onOpen(talk.room)} aria-label={`Open ${toVisible(talk.room)}`}>
                Open
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function toWhen(at: number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
