import { type ReactNode, useRef, useState } from "react";
import { forgetRoom } from "../join/browser-storage.ts";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { toVisible } from "../shared/exact-json.ts";
import { IconButton } from "../shared/icon-button.tsx";
import { request } from "../shared/worker-api.ts";
import { Problem } from "../shared/problem.tsx";
import { useWords } from "../shared/words/words.ts";
import { toDateAndTime } from "../shared/words/formats.ts";

const ICONS = {
  rename: "M4 20h4L19 9l-4-4L4 16ZM13 7l4 4",
  delete: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
};
/** The longest title that the worker stores. */
const MAX_TITLE = 200;

/** A session in the response of `GET /sessions`. */
export interface Talk {
  readonly id: string;
  readonly room: string;
  readonly turns: number;
  readonly lastAt: number;
  readonly firstSaid: string;
  readonly title?: string;
}

export function titleOf({ title, firstSaid, room }: Talk): string {
  return title || firstSaid || room;
}

interface TalkRowProps {
  readonly talk: Talk;
  /** Whether the page is in this conversation. */
  readonly isOpen: boolean;
  readonly onOpen: () => void;
  /** Called after a change, with what was done, for screen readers. */
  readonly onChanged: (what: string) => void;
}

/** One conversation, which can be opened, renamed and deleted. */
export function TalkRow({ talk, isOpen, onOpen, onChanged }: TalkRowProps): ReactNode {
  const { conversations: words, cancel, room, save } = useWords();
  const { token } = useJoinedTalk();
  const [doing, setDoing] = useState<"rename" | "delete">();
  const [title, setTitle] = useState("");
  const [problem, setProblem] = useState<string>();
  const row = useRef<HTMLLIElement>(null);
  const name = toVisible(titleOf(talk));

  const leave = () => {
    setDoing(undefined);
    setProblem(undefined);
    row.current?.querySelector<HTMLButtonElement>("button:enabled")?.focus();
  };
  const change = async (init: RequestInit, what: string) => {
    try {
      await request(token, `/sessions/${encodeURIComponent(talk.id)}`, init);
      if (init.method === "DELETE") forgetRoom(talk.room);
      leave();
      onChanged(what);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };

  return (
    <li
      ref={row}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || doing === undefined) return;
        // Otherwise, Escape would close the panel.
        event.stopPropagation();
        leave();
      }}
    >
      <div className="talk-row">
        <button
          type="button"
          title={room(toVisible(talk.room))}
          aria-current={isOpen}
          disabled={isOpen}
          onClick={onOpen}
        >
          <strong dir="auto">{name}</strong>
          <small>
            {toDateAndTime(new Date(talk.lastAt))}
            {isOpen && words.openNow}
          </small>
        </button>
        <IconButton
          label={words.rename(name)}
          path={ICONS.rename}
          isQuiet
          onClick={() => {
            setTitle(titleOf(talk).slice(0, MAX_TITLE));
            setDoing("rename");
          }}
        />
        {/* The worker still has an open conversation in memory. */}
        {!isOpen && (
          <IconButton label={words.deleteOne(name)} path={ICONS.delete} isQuiet onClick={() => setDoing("delete")} />
        )}
      </div>
      {doing === "rename" && (
        <form
          className="talk-change"
          onSubmit={(event) => {
            event.preventDefault();
            void change({ method: "PATCH", body: JSON.stringify({ title }) }, words.renamed);
          }}
        >
          <label className="field">
            {words.newTitle}
            <input
              value={title}
              dir="auto"
              maxLength={MAX_TITLE}
              autoFocus
              onChange={({ target: { value } }) => setTitle(value)}
            />
          </label>
          <p className="row">
            <button className="primary">{save}</button>
            <button type="button" onClick={leave}>
              {cancel}
            </button>
          </p>
        </form>
      )}
      {doing === "delete" && (
        <div className="talk-change" role="group" aria-label={words.deleteQuestion(name)}>
          <p>{words.deleteWarning}</p>
          <p className="row">
            <button type="button" className="danger" onClick={() => void change({ method: "DELETE" }, words.deleted)}>
              {words.delete}
            </button>
            <button type="button" onClick={leave} autoFocus>
              {words.keep}
            </button>
          </p>
        </div>
      )}
      <Problem text={problem} />
    </li>
  );
}
