import { Room, RoomEvent } from "@livekit/rtc-node";
import { inject, expect, test, vi } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { forgetRoom, filterRoomEvents } from "../../src/livekit/room-events.ts";
import { createToken } from "../support/participant.ts";

interface RoomInternals {
  processFfiEvent: (event: { readonly message: { readonly value: { readonly roomHandle: bigint } } }) => Promise<void>;
  readonly ffiHandle: { readonly handle: bigint };
}

interface Client {
  readonly listenerCount: (name: "ffi_event") => number;
}
const client = () => (globalThis as unknown as { readonly _ffiClientInstance: Client })._ffiClientInstance;

async function openRoom(name: string, identity: string): Promise<Room> {
  const room = new Room();
  filterRoomEvents(room);
  await room.connect(inject("livekitUrl"), await createToken(name, identity, {}), {
    autoSubscribe: false,
    dynacast: false,
  });
  return room;
}

test("a room handles its own events, and none from other rooms", async () => {
  const [name, other] = [createId(), createId()];
  const rooms = await Promise.all([openRoom(name, "ann"), openRoom(name, "bob"), openRoom(other, "carol")]);
  const [ann, bob, carol] = rooms;
  const heard: string[] = [];
  bob.on(RoomEvent.DataReceived, (bytes) => heard.push(new TextDecoder().decode(bytes)));
  const handles: unknown[] = [];
  const internals = carol as unknown as RoomInternals;
  const { processFfiEvent } = internals;
  internals.processFfiEvent = (event) => {
    handles.push(event.message.value.roomHandle);
    return processFfiEvent(event);
  };

  await ann.localParticipant?.publishData(new TextEncoder().encode("hello"), { reliable: true });
  await vi.waitUntil(() => heard.length > 0, { timeout: 5_000 });

  expect(heard).toEqual(["hello"]);
  expect(handles.filter((handle) => handle !== internals.ffiHandle.handle)).toEqual([]);
  await Promise.all(rooms.map((room) => room.disconnect()));
});

test("a room that is forgotten has no listeners, even if we were not the ones who ended it", async () => {
  const room = await openRoom(createId(), "ann");
  const before = client().listenerCount("ffi_event");
  // Simulates that LiveKit closes the room.
  (room as unknown as { cleanupOnDisconnect: () => void }).cleanupOnDisconnect();
  await room.disconnect();

  forgetRoom(room);

  expect(client().listenerCount("ffi_event")).toBe(before - 1);
});
