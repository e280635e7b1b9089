// Imports only types: `load-rtc-node.ts` loads the package, and redirects its log to stderr.
import type { Room } from "@livekit/rtc-node";

interface FfiEvent {
  readonly message: { readonly case?: string; readonly value?: { readonly roomHandle?: bigint } };
}

/** Private members of Room. */
interface RoomInternals {
  onFfiEvent: (event: FfiEvent) => unknown;
  preConnectEvents: FfiEvent[];
  readonly ffiHandle?: { readonly handle: bigint };
}

interface FfiClient {
  readonly off: (name: "ffi_event", listener: (event: FfiEvent) => unknown) => void;
}

/**
 * Makes a room ignore other rooms' events. rtc-node sends every event in the process to all of its rooms, and each room
 * acquires a lock before it checks whether the event is its own. Checked with @livekit/rtc-node 0.13.35.
 */
export function filterRoomEvents(room: Room): void {
  const internals = room as unknown as RoomInternals;
  const handle = internals.onFfiEvent;
  internals.onFfiEvent = (event) => {
    const { case: kind, value } = event.message;
    if (kind === "rpcMethodInvocation") return handle(event);
    if (kind !== "roomEvent") return undefined;
    const own = internals.ffiHandle?.handle;
    if (own === undefined) return handle(event);
    if (value?.roomHandle !== own) return undefined;
    // Until the room was connected, it had no handle, so other rooms' events were queued too.
    internals.preConnectEvents = internals.preConnectEvents.filter((early) => early.message.value?.roomHandle === own);
    return handle(event);
  };
}

/**
 * Removes a room's listeners for good. `Room.disconnect` does not remove them if LiveKit has closed the room, and a
 * process that serves one room after another would accumulate them. Checked with @livekit/rtc-node 0.13.35.
 */
export function forgetRoom(room: Room): void {
  const { _ffiClientInstance: client } = globalThis as { readonly _ffiClientInstance?: FfiClient };
  client?.off("ffi_event", (room as unknown as RoomInternals).onFfiEvent);
  room.removeAllListeners();
}
