/** Another participant, as LiveKit reports it. */
export interface RoomPeer {
  readonly identity: string;
  readonly isAgent: boolean;
  /**
   * For agents: whether the agent no longer serves the room, or publishes on behalf of another participant.
   * @defaultValue false
   */
  readonly isGone?: boolean;
}

/** The callbacks of a transport. None of them may throw. */
export interface TransportListener {
  /**
   * Called for packets and streams. `from` is undefined until LiveKit announces the sender, which takes up to 3 s if
   * the sender has no tracks.
   */
  readonly onPacket: (bytes: Uint8Array, from: RoomPeer | undefined) => void;
  readonly onJoined: (peer: RoomPeer) => void;
  readonly onLeft: (peer: RoomPeer) => void;
  /** Another participant's attributes have changed. */
  readonly onChanged?: (peer: RoomPeer) => void;
  /** We entered the room, for the first time or again. Messages sent while we were away did not reach us. */
  readonly onConnected: () => void;
  readonly onDisconnected: () => void;
}

/** Sends and receives frames in one room. A transport never joins or leaves the room: the application does. */
export interface Transport {
  readonly isConnected: boolean;
  /** `""` before the first connection. */
  readonly roomName: string;
  /** All other participants in the room. */
  readonly peers: readonly RoomPeer[];
  /** Sends one reliable data packet of at most 15,000 bytes to these identities. */
  readonly sendPacket: (bytes: Uint8Array, to: readonly string[]) => Promise<void>;
  /**
   * Sends one byte stream to these identities. Unlike a packet, a stream identifies its sender even before LiveKit has
   * announced the sender.
   */
  readonly sendStream: (bytes: Uint8Array, to: readonly string[]) => Promise<void>;
  /**
   * Calls one of a participant's remote methods. Rejects if the method fails or the participant does not have it.
   * Needed by `startTurn`, `endTurn` and `cancelTurn` only.
   */
  readonly callMethod?: (method: string, identity: string) => Promise<void>;
  /** Sets the listener. There is at most one. Returns a function that removes it. */
  readonly listen: (listener: TransportListener) => () => void;
}
