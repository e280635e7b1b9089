import { ParticipantKind, type Room } from "@livekit/rtc-node";
import { AgentDispatchClient, RoomServiceClient, SipClient } from "livekit-server-sdk";
import type { RoomSnapshot } from "../../agent/agent-session.ts";
import { isCleanText } from "../../lib/clean-json.ts";
import { WAITING_ATTRIBUTE } from "../../protocol/attributes.ts";
import { agentIdentity } from "../../protocol/conversation-id.ts";
import type { SeenDispatch } from "../../session/agent/session-agents.ts";
import type { CallLine } from "../../session/agent/call-end.ts";
import { isPerson } from "../../session/room/room-input.ts";
import type { RoomApi } from "../../session/room/sender-resolver.ts";
import { ignoreGone } from "../ignore-gone.ts";
import { listDispatches } from "../list-dispatches.ts";
import type { SuccessionOptions } from "./succession.ts";

/** A room, with the address and keys of LiveKit's server API. */
export interface ServedRoom {
  readonly name: string;
  readonly room: Room;
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly apiSecret: string | undefined;
}

/** The keys of a phone. The index of a key is its DTMF code (RFC 4733). */
const KEYS = "0123456789*#ABCD";

const ANNOUNCE = "parley.announce";

export function createRoomApi(served: ServedRoom): RoomApi {
  const { name } = served;
  const client = apiClient(served);
  return {
    list: async () =>
      (await client.listParticipants(name)).map(({ identity, sid, kind, permission }) => ({
        identity,
        sid,
        isSip: Number(kind) === Number(ParticipantKind.SIP),
        isAgent: Number(kind) === Number(ParticipantKind.AGENT),
        isHidden: (permission?.hidden ?? false) || !isCleanText(identity),
        canSend: permission?.canPublishData ?? true,
      })),
    // Removing a missing attribute changes nothing, but makes LiveKit announce the participant to everybody right away.
    announce: async (identity) =>
      void (await client.updateParticipant(name, identity, { attributes: { [ANNOUNCE]: "" } })),
  };
}

/**
 * Blocks everything that `owner`'s agent, which served the session before, sends to the room. That agent stays in the
 * room until its successor removes it.
 */
export async function silence(served: ServedRoom, owner: string): Promise<void> {
  const permission = {
    canPublish: false,
    canPublishData: false,
    canSubscribe: false,
    canUpdateMetadata: true,
    agent: true,
  };
  await apiClient(served)
    .updateParticipant(served.name, agentIdentity(owner), { permission })
    .catch(() => {});
}

/**
 * Returns the room's dispatches to an agent name, newest first. With "", returns the dispatches to workers without a
 * name.
 */
export async function seenDispatches(served: ServedRoom, agentName: string): Promise<SeenDispatch[]> {
  const { name: room, url, apiKey, apiSecret } = served;
  const client = new AgentDispatchClient(url.replace(/^ws/u, "http"), apiKey, apiSecret, { requestTimeout: 5 });
  return (await listDispatches(client, { room, agentName })).map(({ id, metadata }) => ({ id, metadata }));
}

/** Returns the server API calls that an agent uses to replace its predecessors. */
export function createFormerAgents(served: ServedRoom): Pick<SuccessionOptions, "setAttributes" | "remove"> {
  const { name } = served;
  const client = apiClient(served);
  return {
    setAttributes: async (identity, attributes) => {
      await client.updateParticipant(name, identity, { attributes }).catch(ignoreGone);
    },
    remove: async (identity) => {
      await client.removeParticipant(name, identity).catch(ignoreGone);
    },
  };
}

/** Clears the attribute that notified participants that all workers are full. */
export function endWaiting(served: ServedRoom): void {
  const client = apiClient(served);
  for (const { identity, attributes } of served.room.remoteParticipants.values())
    if (attributes[WAITING_ATTRIBUTE])
      client.updateParticipant(served.name, identity, { attributes: { [WAITING_ATTRIBUTE]: "" } }).catch(() => {});
}

/** Returns the room as its agent sees it. Call this once the room is connected. */
export function readRoom({ name, room }: Pick<ServedRoom, "name" | "room">): RoomSnapshot {
  const people = [...room.remoteParticipants.values()].filter(isPerson);
  return {
    name,
    metadata: room.metadata ?? "",
    participants: people.map(({ identity, name: shown = "", attributes, kind }) => ({
      identity,
      name: shown,
      attributes,
      isPhone: kind === ParticipantKind.SIP,
    })),
  };
}

export function createCallLine(served: ServedRoom): CallLine {
  const { name, room } = served;
  const client = apiClient(served);
  return {
    hangUp: async (identity) => {
      const isAlone = [...room.remoteParticipants.values()].every(
        (each) => !isPerson(each) || each.identity === identity,
      );
      if (identity === undefined || isAlone) await client.deleteRoom(name);
      else await client.removeParticipant(name, identity);
    },
    transfer: async (identity, to) => {
      const { url, apiKey, apiSecret } = served;
      await new SipClient(url.replace(/^ws/u, "http"), apiKey, apiSecret).transferSipParticipant(name, identity, to);
    },
    press: async (key) => room.localParticipant?.publishDtmf(KEYS.indexOf(key), key),
    isOnPhone: (identity) => room.remoteParticipants.get(identity)?.kind === ParticipantKind.SIP,
  };
}

function apiClient({ url, apiKey, apiSecret }: ServedRoom): RoomServiceClient {
  return new RoomServiceClient(url.replace(/^ws/u, "http"), apiKey, apiSecret, { requestTimeout: 5 });
}
