import { ConnectionState, type Room, RoomEvent } from "@livekit/rtc-node";

/**
 * Calls `setCutOff(true)` when LiveKit is unreachable, and `setCutOff(false)` when it is reachable again or the room
 * has ended.
 */
export function followConnection(room: Room, setCutOff: (isCutOff: boolean) => void): void {
  room.on(RoomEvent.Reconnecting, () => setCutOff(true));
  room.on(RoomEvent.Reconnected, () => setCutOff(false));
  room.on(RoomEvent.Disconnected, () => setCutOff(false));
  if (isReconnecting(room)) setCutOff(true);
}

export const isReconnecting = ({ connectionState }: Room) => connectionState === ConnectionState.CONN_RECONNECTING;

/** Sets the agent's own attributes. Does nothing if the room is not connected. Failures are ignored. */
export function setOwnAttributes({ localParticipant }: Room, attributes: Record<string, string>): void {
  localParticipant?.setAttributes(attributes).catch(() => {});
}
