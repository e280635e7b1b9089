/** What can be done with a room as a call, by LiveKit's API. Each rejects when LiveKit refuses. */
export interface CallLine {
  /**
   * Takes a participant out of the room, and closes the room when nobody else is left in it. Without a participant it
   * closes the room.
   */
  readonly hangUp: (identity?: string) => Promise<void>;
  /** Refers a caller by telephone to `tel:…` or `sip:…`. It leaves the room then. */
  readonly transfer: (identity: string, to: string) => Promise<void>;
  /** Sends one key, 0 to 9, `*`, `#` or A to D, to all callers. */
  readonly press: (key: string) => Promise<void>;
  /** A caller by telephone that is in the room. */
  readonly isOnPhone: (identity: string) => boolean;
}
