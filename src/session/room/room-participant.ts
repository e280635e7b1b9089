import { ParticipantKind, type RemoteParticipant } from "@livekit/rtc-node";
import { isCleanText } from "../../lib/clean-json.ts";

/** A participant as LiveKit reports it. */
export interface RoomParticipant {
  readonly identity: string;
  /** New for each join of the same identity. */
  readonly sid: string;
  /** A caller by telephone: it has no data channel. */
  readonly isSip: boolean;
}

/** Whoever has a name that no record can hold is nobody here: under a name made clean it would be somebody else. */
export function isPerson({ kind, identity }: RemoteParticipant): boolean {
  return kind !== ParticipantKind.AGENT && isCleanText(identity);
}

export function toRoomParticipant(participant: RemoteParticipant): RoomParticipant {
  const { identity, sid = "", kind } = participant;
  return { identity, sid, isSip: kind === ParticipantKind.SIP };
}
