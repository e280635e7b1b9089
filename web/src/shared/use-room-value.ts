import type { Room, RoomEvent } from "livekit-client";
import { useCallback, useSyncExternalStore } from "react";

/**
 * Returns a value of LiveKit's room that may change on certain events.
 *
 * @param events must be the same array in each render
 * @param read must return an equal value (by `Object.is`) while nothing has changed
 */
export function useRoomValue<Value>(room: Room, events: readonly RoomEvent[], read: (room: Room) => Value): Value {
  const subscribe = useCallback(
    (listener: () => void) => {
      for (const event of events) room.on(event as RoomEvent.Connected, listener);
      return () => {
        for (const event of events) room.off(event as RoomEvent.Connected, listener);
      };
    },
    [room, events],
  );
  return useSyncExternalStore(subscribe, () => read(room));
}
