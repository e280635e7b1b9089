import { ParticipantKind, type Room, RoomEvent } from "livekit-client";
import type { ReactNode } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { toVisible } from "../shared/exact-json.ts";
import { ExactText } from "../shared/exact-text.tsx";
import { useRoomValue } from "../shared/use-room-value.ts";
import { useWords } from "../shared/words/words.ts";

const EVENTS = [RoomEvent.Connected, RoomEvent.ParticipantConnected, RoomEvent.ParticipantDisconnected];
/** Separates names. No name contains it. */
const SEPARATOR = "\n";

/** Who is here, besides the agent. */
export function Present(): ReactNode {
  const words = useWords();
  const { liveKit, identity, room } = useJoinedTalk();
  const others = useRoomValue(liveKit, EVENTS, namesOf);
  const names = [identity, ...(others === "" ? [] : others.split(SEPARATOR))];
  return (
    <p className="where" title={words.room(toVisible(room))}>
      <span className="visually-hidden">{words.talk.here}</span>
      {names.map((name, index) => (
        <span key={name}>
          {index > 0 && words.listSeparator}
          <ExactText>{name}</ExactText>
        </span>
      ))}
    </p>
  );
}

/** Returns a string, because it must be equal while nothing has changed. */
function namesOf({ remoteParticipants }: Room): string {
  const people = [...remoteParticipants.values()].filter(({ kind }) => kind !== ParticipantKind.AGENT);
  return people.map(({ identity }) => identity.replaceAll(SEPARATOR, " ")).join(SEPARATOR);
}
