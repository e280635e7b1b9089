import { ParticipantKind, type RemoteParticipant } from "@livekit/rtc-node";
import type { EndReason } from "../../conversation/session-end.ts";
import { isCleanText } from "../../lib/clean-json.ts";
import type { Transcript } from "./voice-port.ts";

/** A participant as LiveKit reports it. */
export interface RoomParticipant {
  readonly identity: string;
  /** Differs for each join of the same identity. */
  readonly sid: string;
  /** Whether this is a phone caller, who has no data channel. */
  readonly isSip: boolean;
}

/** Why a room was closed. */
export type RoomOver = Extract<EndReason, "participants_left" | "room_deleted">;

/** An event that a session receives from its room. */
export type RoomInput =
  | { readonly type: "joined"; readonly participant: RoomParticipant }
  | { readonly type: "left"; readonly identity: string }
  | { readonly type: "packet"; readonly from: RoomParticipant; readonly bytes: Uint8Array }
  /** Text on `lk.chat`, from an ordinary LiveKit client. */
  | { readonly type: "chat"; readonly from: RoomParticipant; readonly id: string; readonly text: string }
  /** A text stream on `lk.chat` was opened. If `refuse` is called synchronously, the stream is not read. */
  | { readonly type: "chat_opened"; readonly identity: string; readonly refuse: () => void }
  /** The words recognized so far in an ongoing utterance. Final words do not change, but more may follow. */
  | {
      readonly type: "transcript";
      readonly from: RoomParticipant;
      readonly transcript: Transcript;
      readonly isFinal: boolean;
    }
  /** A participant has finished speaking, or has pressed keys. Keys interrupt an answer as speech does. */
  | { readonly type: "utterance"; readonly from: RoomParticipant; readonly transcript: Transcript }
  /** A packet from one of the candidates. LiveKit does not report which one. */
  | { readonly type: "unclear"; readonly candidates: readonly string[]; readonly bytes: Uint8Array }
  /** A stream was dropped because its sender has too many open streams, or too many bytes in them. */
  | { readonly type: "stream_refused"; readonly identity: string }
  | { readonly type: "dropped"; readonly reason: "unknown_sender" | "stream_failed" | "too_large" }
  /** With `over`, the room is closed for everyone. Without it, only the agent is known to be disconnected. */
  | { readonly type: "disconnected"; readonly over?: RoomOver };

/** Must not throw. */
export type OnRoomInput = (input: RoomInput) => void;

const NOT_PICKED_UP: ReadonlySet<string> = new Set(["dialing", "ringing", "automation"]);

/**
 * Returns `false` for agents, and for identities that PostgreSQL cannot store. Cleaning such an identity could make it
 * equal to another participant's.
 */
export function isPerson({ kind, identity }: RemoteParticipant): boolean {
  return kind !== ParticipantKind.AGENT && isCleanText(identity);
}

/** Whether this is a phone that nobody has answered yet, according to the attributes of LiveKit's SIP service. */
export function isRinging({ kind, attributes }: RemoteParticipant): boolean {
  return kind === ParticipantKind.SIP && NOT_PICKED_UP.has(attributes["sip.callStatus"] ?? "");
}

export function toRoomParticipant(participant: RemoteParticipant): RoomParticipant {
  const { identity, sid = "", kind } = participant;
  return { identity, sid, isSip: kind === ParticipantKind.SIP };
}
