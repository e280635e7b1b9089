/** Another participant, as LiveKit reports it. */
export interface RoomPeer {
  readonly identity: string;
  readonly isAgent: boolean;
  /** Of an agent: it serves the room no more, or publishes for another one. @defaultValue false */
  readonly isGone?: boolean;
}

/** What a transport calls. None of these functions may throw. */
export interface TransportListener {
  /** For packets and streams. `from` is undefined until LiveKit has announced the sender: up to 3 s without tracks. */
  readonly onPacket: (bytes: Uint8Array, from: RoomPeer | undefined) => void;
  readonly onJoined: (peer: RoomPeer) => void;
  readonly onLeft: (peer: RoomPeer) => void;
  /** Another participant's attributes have changed. */
  readonly onChanged?: (peer: RoomPeer) => void;
  /** We are in the room, for the first time or again. What was sent while we were away did not reach us. */
  readonly onConnected: () => void;
  readonly onDisconnected: () => void;
}

/** Carries frames to and from one room. A transport never joins or leaves the room: the application does. */
export interface Transport {
  readonly isConnected: boolean;
  /** `""` before the first connection. */
  readonly roomName: string;
  /** All other participants in the room. */
  readonly peers: readonly RoomPeer[];
  /** Sends one reliable data packet of at most 15,000 bytes to these identities. */
  readonly sendPacket: (bytes: Uint8Array, to: readonly string[]) => Promise<void>;
  /** Sends one byte stream to these identities. It names its sender, whether or not LiveKit has announced it. */
  readonly sendStream: (bytes: Uint8Array, to: readonly string[]) => Promise<void>;
  /** Sets the listener; at most one at a time. The returned function removes it. */
  readonly listen: (listener: TransportListener) => () => void;
}
