import { AutoSubscribe, initializeLogger, JobContext } from "@livekit/agents";
import { Room } from "@livekit/rtc-node";
import { beforeAll, expect, inject, test } from "vitest";
import { capStreams, isOverCap } from "../../src/livekit/capped-streams.ts";
import { createId } from "../../src/lib/id.ts";
import { createToken } from "../support/participant.ts";

beforeAll(() => initializeLogger({ pretty: false, level: "silent" }));

type Arguments = ConstructorParameters<typeof JobContext>;

test("a job connects through the room's own connect, which adds the cap to the job's options", async () => {
  const calls: unknown[] = [];
  const room = {
    on: () => {},
    remoteParticipants: new Map(),
    connect: async (...call: unknown[]) => void calls.push(call),
  };
  const info = { url: "ws://server", token: "token", job: {} };
  const nothing = () => {};
  const args = [{}, info, room, nothing, nothing, {}] as unknown as Arguments;
  capStreams(room, 1_000);

  await new JobContext(...args).connect(undefined, AutoSubscribe.SUBSCRIBE_NONE);

  const options = { autoSubscribe: false, dynacast: false, dataStream: { maxPayloadByteLength: 1_000 } };
  expect(calls).toEqual([["ws://server", "token", expect.objectContaining(options)]]);
});

test("a stream over the cap fails, with an error that says so", async () => {
  const name = `caps-${createId()}`;
  const [sender, receiver] = [new Room(), new Room()];
  const options = { autoSubscribe: false, dynacast: false };
  const failed = Promise.withResolvers<unknown>();
  receiver.registerByteStreamHandler("data", (reader) => {
    void reader.readAll().then(() => failed.resolve("read in full"), failed.resolve);
  });
  capStreams(receiver, 1_000);
  await receiver.connect(inject("livekitUrl"), await createToken(name, "receiver"), options);
  await sender.connect(inject("livekitUrl"), await createToken(name, "sender"), options);

  const writer = await sender.localParticipant?.streamBytes({ topic: "data" });
  await writer?.write(new Uint8Array(5_000));
  await writer?.close();

  expect(isOverCap(await failed.promise)).toBe(true);
  await Promise.all([sender.disconnect(), receiver.disconnect()]);
});
