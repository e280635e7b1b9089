import { useParley } from "@parley/react";
import { type ReactNode, useEffect, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { readJson } from "../shared/worker-api.ts";
import { useRecord } from "../shared/use-record.tsx";
import { type Talk, TalkRow, titleOf } from "./talk-row.tsx";
import { useWords } from "../shared/words/words.ts";

const loadTalks = (token: string) => readJson<readonly Talk[]>(token, "/sessions");

/** The conversations in which this person has spoken, from the worker's record. Any of them can be continued. */
export function TalkList({ onOpen }: { readonly onOpen: (room: string) => void }): ReactNode {
  const { conversations: words } = useWords();
  const { token, room } = useJoinedTalk();
  const parley = useParley();
  const { value: talks = [], problem, reload } = useRecord(token, loadTalks);
  useEffect(() => parley?.on("answer_end", () => void reload()), [reload, parley]);
  const [sought, setSought] = useState("");
  const [done, setDone] = useState("");
  const wanted = sought.trim().toLowerCase();
  const shown = talks.filter((talk) =>
    `${titleOf(talk)} ${talk.firstSaid} ${talk.room}`.toLowerCase().includes(wanted),
  );
  return (
    <section>
      <h3>{words.yours}</h3>
      {problem || (talks.length === 0 && <p className="hint">{words.none}</p>)}
      {talks.length > 0 && (
        <label className="field">
          {words.search}
          <input type="search" dir="auto" value={sought} onChange={({ target: { value } }) => setSought(value)} />
        </label>
      )}
      <ul className="talks">
        {shown.map((talk) => (
          <TalkRow
            key={talk.id}
            talk={talk}
            isOpen={talk.room === room}
            onOpen={() => onOpen(talk.room)}
            onChanged={(what) => {
              setDone(what);
              void reload();
            }}
          />
        ))}
      </ul>
      <p className="visually-hidden" role="status">
        {done}
      </p>
    </section>
  );
}
