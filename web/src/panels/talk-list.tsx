import { useParley } from "@parley/react";
import { type ReactNode, useEffect, useState } from "react";
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
  const [sought, setSought] = useState("");
  const wanted = sought.trim().toLowerCase();
  const shown = talks.filter((talk) => `${talk.firstSaid} ${talk.room}`.toLowerCase().includes(wanted));
  return (
    <section>
      <h3>Your conversations</h3>
      {problem ||
        (talks.length === 0 && <p className="hint">Conversations in which you have said something are listed here.</p>)}
      {talks.length > 0 && (
        <label className="field">
          Search
          <input type="search" value={sought} onChange={({ target: { value } }) => setSought(value)} />
        </label>
      )}
      <ul className="talks">
        {shown.map((talk) => (
          <li key={talk.id}>
            <button
              type="button"
              title={`Room ${toVisible(talk.room)}`}
              aria-current={talk.room === room}
              disabled={talk.room === room}
              onClick={() => onOpen(talk.room)}
            >
              <strong dir="auto">{toVisible(talk.firstSaid || talk.room)}</strong>
              <small>
                {toWhen(talk.lastAt)}
                {talk.room === room && ", open now"}
              </small>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function toWhen(at: number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
