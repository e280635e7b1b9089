import type { Room as NodeRoom } from "@livekit/rtc-node";
import type { Room as BrowserRoom } from "livekit-client";
import { EventEmitter } from "node:events";
import { expect, expectTypeOf, test } from "vitest";
import { type LiveKitRoom, roomTransport, type TransportListener } from "../../../src/client/index.ts";

/** The few parts of a LiveKit room that the transport uses. */
class FakeRoom extends EventEmitter {
  name = "talk";
  isConnected = true;
  readonly remoteParticipants = new Map([
    ["agent-1", { identity: "agent-1", kind: 4 }],
    ["bob", { identity: "bob", kind: 0 }],
  ]);
  readonly published: object[] = [];
  streamHandler: ((reader: AsyncIterable<Uint8Array>, from: { identity: string }) => void) | undefined;
  readonly localParticipant = {
    publishData: async (bytes: Uint8Array, options: object) => void this.published.push({ bytes, ...options }),
    streamBytes: async (options: object) => ({
      write: async (bytes: Uint8Array) => void this.published.push({ stream: bytes, ...options }),
      close: async () => {},
    }),
    performRpc: async (call: object) => {
      this.published.push(call);
      return "";
    },
  };

  registerByteStreamHandler(topic: string, handler: never): void {
    if (topic === "parley") this.streamHandler = handler;
  }

  unregisterByteStreamHandler(): void {
    this.streamHandler = undefined;
  }
}

function listenTo(room: FakeRoom): { events: unknown[]; stop: () => void } {
  const events: unknown[] = [];
  const listener: TransportListener = {
    onPacket: (bytes, from) => events.push([...bytes, from?.identity, from?.isAgent]),
    onJoined: ({ identity }) => events.push(`joined ${identity}`),
    onLeft: ({ identity }) => events.push(`left ${identity}`),
    onChanged: ({ identity, isGone = false }) => events.push(`${identity} ${isGone ? "has gone" : "serves"}`),
    onConnected: () => events.push("connected"),
    onDisconnected: () => events.push("disconnected"),
  };
  return { events, stop: roomTransport(room).listen(listener) };
}

async function* chunks(...parts: number[][]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield new Uint8Array(part);
}

test("rooms from both LiveKit packages are accepted", () => {
  expectTypeOf<NodeRoom>().toExtend<LiveKitRoom>();
  expectTypeOf<BrowserRoom>().toExtend<LiveKitRoom>();
});

test("packets with our topic or none arrive with their sender, and other topics do not", () => {
  const room = new FakeRoom();
  const { events } = listenTo(room);
  const agent = room.remoteParticipants.get("agent-1");

  room.emit("dataReceived", new Uint8Array([1]), agent, 1, "parley");
  room.emit("dataReceived", new Uint8Array([2]), room.remoteParticipants.get("bob"), 1, "");
  room.emit("dataReceived", new Uint8Array([3]), undefined, 1, undefined);
  room.emit("dataReceived", new Uint8Array([4]), agent, 1, "lk.chat");

  expect(events).toEqual([
    [1, "agent-1", true],
    [2, "bob", false],
    [3, undefined, undefined],
  ]);
});

test("a byte stream arrives whole, and without a sender if it is not announced", async () => {
  const room = new FakeRoom();
  const { events } = listenTo(room);

  room.streamHandler?.(chunks([1, 2], [3]), { identity: "agent-1" });
  room.streamHandler?.(chunks([4]), { identity: "ghost" });
  await expect.poll(() => events.length).toBe(2);

  expect(events).toContainEqual([1, 2, 3, "agent-1", true]);
  expect(events).toContainEqual([4, undefined, undefined]);
});

test("a byte stream that breaks off, or is longer than any envelope, is dropped", async () => {
  const room = new FakeRoom();
  const { events } = listenTo(room);
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1);
    throw new Error("cut");
  }
  async function* endless(): AsyncGenerator<Uint8Array> {
    while (true) yield new Uint8Array(1024 * 1024);
  }

  room.streamHandler?.(broken(), { identity: "agent-1" });
  room.streamHandler?.(endless(), { identity: "agent-1" });
  await new Promise((resolve) => setTimeout(resolve, 20));

  expect(events).toEqual([]);
});

test("joining, leaving and reconnecting are each reported once", () => {
  const room = new FakeRoom();
  const { events } = listenTo(room);

  room.emit("participantConnected", { identity: "eve", kind: 0 });
  room.emit("participantDisconnected", { identity: "eve", kind: 0 });
  room.emit("connectionStateChanged");
  room.emit("reconnected");
  room.isConnected = false;
  room.emit("disconnected");
  room.isConnected = true;
  room.emit("connectionStateChanged");

  expect(events).toEqual(["joined eve", "left eve", "connected", "disconnected", "connected"]);
});

test.each([
  [{ "parley.agent.state": "listening" }, "agent-1 serves"],
  [{ "parley.agent.state": "gone" }, "agent-1 has gone"],
  [{ "parley.agent.state": "listening", "lk.publish_on_behalf": "agent-2" }, "agent-1 has gone"],
])("an agent's attributes tell whether it serves the room: %j", (attributes, expected) => {
  const room = new FakeRoom();
  const { events } = listenTo(room);

  room.emit("participantAttributesChanged", {}, { identity: "agent-1", kind: 4, attributes });

  expect(events).toEqual([expected]);
});

test("messages are reliable, on our topic and addressed in the spelling of both packages", async () => {
  const room = new FakeRoom();
  const transport = roomTransport(room);

  await transport.sendPacket(new Uint8Array([1]), ["agent-1"]);
  await transport.sendStream(new Uint8Array([2]), ["agent-1"]);

  const addressed = { topic: "parley", destinationIdentities: ["agent-1"], destination_identities: ["agent-1"] };
  expect(room.published).toEqual([
    { bytes: new Uint8Array([1]), reliable: true, ...addressed },
    { stream: new Uint8Array([2]), totalSize: 1, ...addressed },
  ]);
});

test("a remote method of a participant is called", async () => {
  const room = new FakeRoom();

  await roomTransport(room).callMethod?.("start_turn", "agent-1");

  expect(room.published).toEqual([{ destinationIdentity: "agent-1", method: "start_turn", payload: "" }]);
});

test("no listener is left on the room when listening ends", () => {
  const room = new FakeRoom();
  const { stop } = listenTo(room);

  stop();

  expect(room.eventNames()).toEqual([]);
  expect(room.streamHandler).toBeUndefined();
});
