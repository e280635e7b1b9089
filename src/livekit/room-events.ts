// A mere type: whoever loads the package decides where its log goes.
import type { Room } from "@livekit/rtc-node";

interface FfiEvent {
  readonly message: { readonly case?: string; readonly value?: { readonly roomHandle?: bigint } };
}

/** What of a Room is its own affair. */
interface RoomInternals {
  onFfiEvent: (event: FfiEvent) => unknown;
  preConnectEvents: FfiEvent[];
  readonly ffiHandle?: { readonly handle: bigint };
}

interface FfiClient {
  readonly off: (name: "ffi_event", listener: (event: FfiEvent) => unknown) => void;
}

/**
 * Keeps the events of other rooms from a room that is not connected yet: every event of the process goes to each of its
 * rooms, which takes a lock before it looks whose it is. Checked with @livekit/rtc-node 0.13.35.
 */
export function hearOwnEvents(room: Room): void {
  const internals = room as unknown as RoomInternals;
  const handle = internals.onFfiEvent;
  internals.onFfiEvent = (event) => {
    const { case: kind, value } = event.message;
    if (kind === "rpcMethodInvocation") return handle(event);
    if (kind !== "roomEvent") return undefined;
    const own = internals.ffiHandle?.handle;
    if (own === undefined) return handle(event);
    if (value?.roomHandle !== own) return undefined;
    // What came before it was connected, and so before it had a handle.
    internals.preConnectEvents = internals.preConnectEvents.filter((early) => early.message.value?.roomHandle === own);
    return handle(event);
  };
}

/**
 * Ends a room's listening, for good. `Room.disconnect` leaves it in place when LiveKit has ended the room by itself, and
 * a process that serves one room after another would hear for all of them. Checked with @livekit/rtc-node 0.13.35.
 */
export function forgetRoom(room: Room): void {
  const { _ffiClientInstance: client } = globalThis as { readonly _ffiClientInstance?: FfiClient };
  client?.off("ffi_event", (room as unknown as RoomInternals).onFfiEvent);
  room.removeAllListeners();
}
