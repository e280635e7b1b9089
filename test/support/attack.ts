import { encode } from "@msgpack/msgpack";
import { ParticipantKind } from "@livekit/rtc-node";
import { RoomServiceClient } from "livekit-server-sdk";
import { pino, type Logger } from "pino";
import { inject } from "vitest";
import type { Participant } from "./participant.ts";

/** The test server's API, with an operator's rights. */
export function roomApi(): RoomServiceClient {
  const url = inject("livekitUrl").replace(/^ws/u, "http");
  return new RoomServiceClient(url, inject("livekitApiKey"), inject("livekitApiSecret"));
}

/** The identity of the agent in this client's room. */
export function agentIn({ room }: Participant): string {
  const agent = [...room.remoteParticipants.values()].find(({ kind }) => kind === ParticipantKind.AGENT);
  if (!agent) throw new TypeError("The agent is not in the room");
  return agent.identity;
}

/** Any envelope, even one that breaks the protocol's rules. */
export function rawPacket(fields: { type: number; body: Record<string, unknown>; stanzaId?: number }): Uint8Array {
  return encode({ stanzaId: 1, conversationId: "", meta: {}, ...fields });
}

export const resultPacket = (id: string, result: Record<string, unknown>, stanzaId = 1): Uint8Array =>
  rawPacket({ type: 7, stanzaId, body: { id, requestId: id, success: true, result } });

/** A logger for an agent, and the reasons it logged for dropped messages. */
export function dropLog(): { readonly logger: Logger; readonly reasons: () => readonly unknown[] } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const reasons = () => lines.flatMap(({ msg, reason }) => (msg === "message dropped" ? [reason] : []));
  return { logger: pino({ level: "warn" }, { write }), reasons };
}
