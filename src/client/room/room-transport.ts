import { isServing } from "../../protocol/attributes.ts";
import { MESSAGE_LIMITS, TOPIC } from "../../protocol/limits.ts";
import type { RoomPeer, Transport, TransportListener } from "./transport.ts";

/** `ParticipantKind.AGENT` in both LiveKit packages. */
const AGENT_KIND = 4;

interface RoomParticipant {
  readonly identity: string;
  readonly kind: number;
  readonly attributes?: Readonly<Record<string, string>>;
}

interface StreamReader {
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array>;
}

interface StreamWriter {
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

interface LocalParticipant {
  publishData(bytes: Uint8Array, options: object): Promise<void>;
  streamBytes(options: object): Promise<StreamWriter>;
  performRpc(call: { destinationIdentity: string; method: string; payload: string }): Promise<string>;
}

type DataReceived = [bytes: Uint8Array, from: RoomParticipant | undefined, kind: unknown, topic: string | undefined];
type Handler = (...values: never[]) => void;

/** The common part of `Room` in livekit-client and in @livekit/rtc-node. The SDK imports neither package. */
export interface LiveKitRoom {
  readonly name?: string | undefined;
  /** livekit-client only. */
  readonly state?: string;
  /** @livekit/rtc-node only. */
  readonly isConnected?: boolean;
  readonly localParticipant?: LocalParticipant | undefined;
  readonly remoteParticipants: ReadonlyMap<string, RoomParticipant>;
  on(event: never, handler: never): unknown;
  off(event: never, handler: never): unknown;
  registerByteStreamHandler(topic: string, handler: never): void;
  unregisterByteStreamHandler(topic: string): void;
}

export function toTransport(room: LiveKitRoom | Transport): Transport {
  return "remoteParticipants" in room ? roomTransport(room) : room;
}

/** Wraps a room of either LiveKit package as a transport. The room may connect before or after this call. */
export function roomTransport(room: LiveKitRoom): Transport {
  return {
    get isConnected() {
      return isConnected(room);
    },
    get roomName() {
      return room.name ?? "";
    },
    get peers() {
      return [...room.remoteParticipants.values()].map(toPeer);
    },
    async sendPacket(bytes, to) {
      await localOf(room).publishData(bytes, { reliable: true, topic: TOPIC, ...addressed(to) });
    },
    async sendStream(bytes, to) {
      const writer = await localOf(room).streamBytes({ topic: TOPIC, totalSize: bytes.length, ...addressed(to) });
      await writer.write(bytes);
      await writer.close();
    },
    async callMethod(method, destinationIdentity) {
      await localOf(room).performRpc({ destinationIdentity, method, payload: "" });
    },
    listen: (listener) => listen(room, listener),
  };
}

function listen(room: LiveKitRoom, listener: TransportListener): () => void {
  let isListening = true;
  let wasConnected = isConnected(room);
  const peerOf = (identity: string): RoomPeer | undefined => {
    const participant = room.remoteParticipants.get(identity);
    return participant && toPeer(participant);
  };
  const handlers: Readonly<Record<string, Handler>> = {
    participantConnected: (participant: RoomParticipant) => listener.onJoined(toPeer(participant)),
    participantAttributesChanged: (_changed: unknown, participant: RoomParticipant) =>
      listener.onChanged?.(toPeer(participant)),
    participantDisconnected: (participant: RoomParticipant) => listener.onLeft(toPeer(participant)),
    // rtc-node has no "connected" event. In livekit-client, "connectionStateChanged" is also emitted on reconnects.
    connectionStateChanged: () => {
      if (wasConnected || !isConnected(room)) return;
      wasConnected = true;
      listener.onConnected();
    },
    reconnected: () => listener.onConnected(),
    disconnected: () => {
      wasConnected = false;
      listener.onDisconnected();
    },
    dataReceived: (...[bytes, from, , topic]: DataReceived) => {
      if (topic === undefined || topic === "" || topic === TOPIC) listener.onPacket(bytes, from && toPeer(from));
    },
  };
  for (const [event, handler] of Object.entries(handlers)) room.on(event as never, handler as never);
  const handleStream = (reader: StreamReader, { identity }: { identity: string }) => {
    void readAll(reader).then((bytes) => {
      if (bytes && isListening) listener.onPacket(bytes, peerOf(identity));
    });
  };
  room.registerByteStreamHandler(TOPIC, handleStream as never);
  return () => {
    isListening = false;
    for (const [event, handler] of Object.entries(handlers)) room.off(event as never, handler as never);
    room.unregisterByteStreamHandler(TOPIC);
  };
}

/** Reads a stream to its end. Returns `undefined` if it broke off or exceeds the size of an envelope. */
async function readAll(reader: StreamReader): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of reader) {
      size += chunk.length;
      if (size > MESSAGE_LIMITS.envelopeBytes) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function isConnected(room: LiveKitRoom): boolean {
  return room.isConnected ?? room.state === "connected";
}

function localOf({ localParticipant }: LiveKitRoom): LocalParticipant {
  if (!localParticipant) throw new Error("The room is not connected");
  return localParticipant;
}

/**
 * Returns the options that address data to these participants. Both spellings are set, because rtc-node's `publishData`
 * reads only `destination_identities`.
 */
function addressed(to: readonly string[]): object {
  return { destinationIdentities: [...to], destination_identities: [...to] };
}

function toPeer({ identity, kind, attributes }: RoomParticipant): RoomPeer {
  return { identity, isAgent: kind === AGENT_KIND, isGone: !isServing(attributes) };
}
