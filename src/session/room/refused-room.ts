import { type AppError } from "../../errors/app-error.ts";
import { createId } from "../../lib/id.ts";
import { encodeEnvelope } from "../../protocol/codec/codec.ts";
import { toWireError } from "../../protocol/wire-error.ts";
import { type RoomLink, type RoomListener } from "./room-link.ts";
import { type RoomParticipant } from "./room-participant.ts";
import { type VoiceListener } from "./voice-port.ts";

/** What a job tells its session of, or what stands in its place. */
export type RoomTalk = Omit<RoomListener, "onDisconnected" | "onKeys"> & VoiceListener;

/**
 * In the place of a session that the room does not get: each participant hears why, once. The job stays, or the room
 * would be given another agent again and again.
 */
export class RefusedRoom implements RoomTalk {
  readonly #link: Pick<RoomLink, "publish">;
  readonly #conversationId: string;
  readonly #why: AppError;
  readonly #told = new Set<string>();

  constructor(link: Pick<RoomLink, "publish">, conversationId: string, why: AppError) {
    this.#link = link;
    this.#conversationId = conversationId;
    this.#why = why;
  }

  onJoined({ identity }: RoomParticipant): void {
    if (this.#told.has(identity)) return;
    this.#told.add(identity);
    const message = { type: "error_message", body: toWireError(this.#why, { id: createId() }) } as const;
    // No session has given it a number of its own.
    const bytes = encodeEnvelope({ stanzaId: 0, conversationId: this.#conversationId, message });
    this.#link.publish(bytes, [identity]).catch(() => this.#told.delete(identity));
  }

  onLeft(identity: string): void {
    this.#told.delete(identity);
  }

  onPacket(from: RoomParticipant): void {
    this.onJoined(from);
  }

  onChat(from: RoomParticipant): void {
    this.onJoined(from);
  }

  onUtterance(from: RoomParticipant): void {
    this.onJoined(from);
  }

  onTranscript(): void {}
  onUnclear(): void {}
  onStreamRefused(): void {}
  onDropped(): void {}
}
