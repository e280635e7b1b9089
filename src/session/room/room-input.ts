import { ParticipantKind, type RemoteParticipant } from "@livekit/rtc-node";
import type { EndReason } from "../../conversation/session-end.ts";
import { isCleanText } from "../../lib/clean-json.ts";
import type { Transcript } from "./voice-port.ts";

/** A participant as LiveKit reports it. */
export interface RoomParticipant {
  readonly identity: string;
  /** New for each join of the same identity. */
  readonly sid: string;
  /** A caller by telephone: it has no data channel. */
  readonly isSip: boolean;
}

/** Why a room was closed. */
export type RoomOver = Extract<EndReason, "participants_left" | "room_deleted">;

/** An event that a session gets from its room. */
export type RoomInput =
  | { readonly type: "joined"; readonly participant: RoomParticipant }
  | { readonly type: "left"; readonly identity: string }
  | { readonly type: "packet"; readonly from: RoomParticipant; readonly bytes: Uint8Array }
  /** Text on `lk.chat`, from an ordinary LiveKit client. */
  | { readonly type: "chat"; readonly from: RoomParticipant; readonly id: string; readonly text: string }
  /** A text on `lk.chat` begins. `refuse` may be called at once: then it is not read. */
  | { readonly type: "chat_opened"; readonly identity: string; readonly refuse: () => void }
  /** What is understood so far of an utterance that goes on. Final words do not change; more may follow. */
  | {
      readonly type: "transcript";
      readonly from: RoomParticipant;
      readonly transcript: Transcript;
      readonly isFinal: boolean;
    }
  /** A participant has said something and is silent now, or has pressed keys. Keys interrupt an answer as words do. */
  | { readonly type: "utterance"; readonly from: RoomParticipant; readonly transcript: Transcript }
  /** A packet that one of the candidates has sent. LiveKit does not say which. */
  | { readonly type: "unclear"; readonly candidates: readonly string[]; readonly bytes: Uint8Array }
  /** A stream was dropped: its sender's open streams are too many, or hold too much. */
  | { readonly type: "stream_refused"; readonly identity: string }
  | { readonly type: "dropped"; readonly reason: "unknown_sender" | "stream_failed" | "too_large" }
  /** With `over` the room is closed for all; without it, as far as is known only the agent has lost it. */
  | { readonly type: "disconnected"; readonly over?: RoomOver };

/** Must not throw. */
export type OnRoomInput = (input: RoomInput) => void;

const NOT_PICKED_UP: ReadonlySet<string> = new Set(["dialing", "ringing", "automation"]);

/** `false` for agents, and for identities that PostgreSQL cannot store: a cleaned one may be another participant's. */
export function isPerson({ kind, identity }: RemoteParticipant): boolean {
  return kind !== ParticipantKind.AGENT && isCleanText(identity);
}

/** Whether this is a telephone that nobody has picked up yet, by the attributes of LiveKit's SIP service. */
export function isRinging({ kind, attributes }: RemoteParticipant): boolean {
  return kind === ParticipantKind.SIP && NOT_PICKED_UP.has(attributes["sip.callStatus"] ?? "");
}

export function toRoomParticipant(participant: RemoteParticipant): RoomParticipant {
  const { identity, sid = "", kind } = participant;
  return { identity, sid, isSip: kind === ParticipantKind.SIP };
}
