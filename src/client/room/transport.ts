/** Topic of Parley's packets and byte streams. Packets without a topic are accepted too; all others are not ours. */
export const TOPIC = "parley";

/** A participant as LiveKit reports it, never as a message says. */
export interface RoomPeer {
  readonly identity: string;
  readonly isAgent: boolean;
}

/** What comes out of the room. Nothing here may throw. */
export interface TransportListener {
  /** `from` is absent while LiveKit has not announced the sender, which takes up to 3 s for one without tracks. */
  readonly onPacket: (bytes: Uint8Array, from: RoomPeer | undefined) => void;
  readonly onJoined: (peer: RoomPeer) => void;
  readonly onLeft: (peer: RoomPeer) => void;
  /** We are in the room, for the first time or again: whatever was said in between is lost. */
  readonly onConnected: () => void;
  readonly onDisconnected: () => void;
}

/** The way to one room and back. The room itself belongs to the application: a transport never joins or leaves it. */
export interface Transport {
  readonly isConnected: boolean;
  /** `""` before the first connection. */
  readonly roomName: string;
  /** Everyone else who is in the room now. */
  readonly peers: readonly RoomPeer[];
  /** One reliable data packet on the topic, at most 15,000 bytes long. */
  readonly sendPacket: (bytes: Uint8Array, to: readonly string[]) => Promise<void>;
  /** One byte stream on the topic. It carries the sender's identity whatever LiveKit has announced. */
  readonly sendStream: (bytes: Uint8Array, to: readonly string[]) => Promise<void>;
  /** One listener at a time. The returned function ends it. */
  readonly listen: (listener: TransportListener) => () => void;
}
