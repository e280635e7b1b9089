import { type ReactNode, useRef, useState } from "react";
import { type About, type JoinError, type JoinedTalk, joinTalk, newRoom, toJoinError } from "./join-talk.ts";
import { MicrophoneCheck } from "./microphone-check.tsx";
import { MoreFields } from "./more-fields.tsx";
import { loadName, loadRooms, wantMicrophone } from "./browser-storage.ts";
import { ExactText } from "../shared/exact-text.tsx";
import { Problem } from "../shared/problem.tsx";
import { useWords } from "../shared/words/words.ts";

interface JoinFormProps {
  readonly onJoined: (talk: JoinedTalk) => void;
  /** The initial value of the room's name. */
  readonly room: string | undefined;
  /** Why the last join failed. */
  readonly problem: JoinError | undefined;
}

/** Returns the room in the URL's `?room=kitchen`. */
function givenRoom(): string | undefined {
  return new URLSearchParams(location.search).get("room") ?? undefined;
}

export function JoinForm({ onJoined, room: first, problem }: JoinFormProps): ReactNode {
  const { join: words } = useWords();
  const [name, setName] = useState(loadName);
  const [given] = useState(() => first ?? givenRoom());
  const [room, setRoom] = useState(() => given ?? newRoom());
  const [isMoreShown, setMoreShown] = useState(given !== undefined);
  const [about, setAbout] = useState<About>({});
  const [secret, setSecret] = useState("");
  const [failure, setFailure] = useState(problem);
  const [isJoining, setJoining] = useState(false);
  const rooms = loadRooms();
  const form = useRef<HTMLFormElement>(null);

  const join = async (wantsToTalk: boolean) => {
    if (form.current?.reportValidity() !== true) return;
    wantMicrophone(wantsToTalk);
    setJoining(true);
    setFailure(undefined);
    try {
      onJoined(await joinTalk({ room: room.trim(), identity: name.trim(), about }, secret));
    } catch (error) {
      setFailure(toJoinError(error));
      setJoining(false);
    }
  };

  return (
    <main className="join">
      <form
        ref={form}
        className="join-card"
        onSubmit={(event) => {
          event.preventDefault();
          void join(true);
        }}
      >
        <img src="/icon.svg" alt="" width="64" height="64" />
        <h1>{words.title}</h1>
        <p className="hint">{words.hint}</p>
        <label className="field">
          {words.yourName}
          <input
            value={name}
            onChange={(event) => setName(event.target.value)}
            required
            maxLength={128}
            autoComplete="nickname"
            dir="auto"
            autoFocus
          />
        </label>
        {failure?.wantsSecret === true && (
          <label className="field">
            {words.secret}
            <input
              type="password"
              value={secret}
              onChange={(event) => setSecret(event.target.value)}
              required
              autoFocus
            />
          </label>
        )}
        <Problem text={failure?.message} />
        <button className="primary talk-button" disabled={isJoining}>
          {isJoining ? words.joining : words.startTalking}
        </button>
        <button type="button" disabled={isJoining} onClick={() => void join(false)}>
          {words.onlyType}
        </button>
        <MicrophoneCheck />
        <details className="more" open={isMoreShown} onToggle={({ currentTarget }) => setMoreShown(currentTarget.open)}>
          <summary>{words.more}</summary>
          <label className="field">
            {words.room}
            <input
              value={room}
              onChange={(event) => setRoom(event.target.value)}
              required
              maxLength={128}
              list="rooms"
              dir="auto"
              spellCheck={false}
            />
            <datalist id="rooms">
              {rooms.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          </label>
          <MoreFields about={about} onChange={setAbout} />
        </details>
        {rooms.length > 0 && (
          <nav aria-label={words.roomsBefore}>
            <h2>{words.continueIn}</h2>
            <ul className="chips">
              {rooms.slice(0, 6).map((each) => (
                <li key={each}>
                  <button
                    type="button"
                    className="chip"
                    onClick={() => {
                      setRoom(each);
                      setMoreShown(true);
                    }}
                  >
                    <ExactText>{each}</ExactText>
                  </button>
                </li>
              ))}
            </ul>
          </nav>
        )}
      </form>
    </main>
  );
}
