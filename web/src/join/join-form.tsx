import { type FormEvent, type ReactNode, useState } from "react";
import { type About, type JoinError, type JoinedTalk, joinTalk, toJoinError } from "./join-talk.ts";
import { MoreFields } from "./more-fields.tsx";
import { loadName, loadRooms } from "./browser-storage.ts";

interface JoinFormProps {
  readonly onJoined: (talk: JoinedTalk) => void;
  /** The initial value of the room's name. */
  readonly room: string | undefined;
  /** Why the last join failed. */
  readonly problem: JoinError | undefined;
}

/** Returns the room in the URL's `?room=kitchen`, or a new name if there is none. */
function firstRoom(): string {
  return new URLSearchParams(location.search).get("room") ?? `talk-${Math.random().toString(36).slice(2, 7)}`;
}

export function JoinForm({ onJoined, room: first, problem }: JoinFormProps): ReactNode {
  const [name, setName] = useState(loadName);
  const [room, setRoom] = useState(() => first ?? firstRoom());
  const [about, setAbout] = useState<About>({});
  const [secret, setSecret] = useState("");
  const [failure, setFailure] = useState(problem);
  const [isJoining, setJoining] = useState(false);
  const rooms = loadRooms();

  const join = async (event: FormEvent) => {
    event.preventDefault();
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
      <form className="join-card" onSubmit={(event) => void join(event)}>
        <img src="/icon.svg" alt="" width="44" height="44" />
        <h1>Talk with Parley</h1>
        <p className="hint">You can see what its tools do. A tool that needs your permission never runs without it.</p>
        <label className="field">
          Your name
          <input
            value={name}
            onChange={(event) => setName(event.target.value)}
            required
            maxLength={128}
            autoComplete="nickname"
            autoFocus
          />
        </label>
        <label className="field">
          Room
          <input
            value={room}
            onChange={(event) => setRoom(event.target.value)}
            required
            maxLength={128}
            list="rooms"
            spellCheck={false}
          />
          <datalist id="rooms">
            {rooms.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </label>
        <MoreFields about={about} onChange={setAbout} />
        {failure?.wantsSecret === true && (
          <label className="field">
            The worker's secret
            <input
              type="password"
              value={secret}
              onChange={(event) => setSecret(event.target.value)}
              required
              autoFocus
            />
          </label>
        )}
        {failure !== undefined && (
          <p className="problem" role="alert">
            {failure.message}
          </p>
        )}
        <button className="primary" disabled={isJoining}>
          {isJoining ? "Joining …" : "Join"}
        </button>
        {rooms.length > 0 && (
          <nav aria-label="Rooms you were in">
            <h2>Continue in</h2>
            <ul className="chips">
              {rooms.slice(0, 6).map((each) => (
                <li key={each}>
                  <button type="button" className="chip" onClick={() => setRoom(each)}>
                    {each}
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
