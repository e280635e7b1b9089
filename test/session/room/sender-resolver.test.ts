import { expect, test } from "vitest";
import type { RoomParticipant } from "../../../src/session/room/room-input.ts";
import { type ListedParticipant, SenderResolver } from "../../../src/session/room/sender-resolver.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { forEachTest } from "../../support/lifetimes.ts";

const clock = forEachTest(() => new VirtualClock());

const participant = (identity: string): RoomParticipant => ({ identity, sid: `PA_${identity}`, isSip: false });

/** A server whose participant list, announcements and outages the test controls. */
class Server {
  readonly listed = new Map<string, ListedParticipant>();
  readonly local = new Set<string>(["agent"]);
  readonly got: string[] = [];
  isDown = false;
  announceAfterMs = 50;
  lists = 0;
  readonly resolver = new SenderResolver(
    {
      isLocal: (identity) => this.local.has(identity),
      list: async () => {
        this.lists++;
        await new Promise((resolve) => setTimeout(resolve, 10));
        if (this.isDown) throw new Error("down");
        return [...this.listed.values()];
      },
      announce: async (identity) => void setTimeout(() => this.announce(identity), this.announceAfterMs),
    },
    (input) => {
      if (input.type === "packet") this.got.push(`${input.from.identity}: ${input.bytes[0]}`);
      if (input.type === "dropped") this.got.push("dropped");
      if (input.type === "unclear") this.got.push(`${input.candidates.join(" or ")}: ${input.bytes[0]} again`);
      if (input.type === "left") this.got.push(`${input.identity} vanished`);
    },
  );

  join(identity: string, more: Partial<ListedParticipant> = {}): void {
    this.listed.set(identity, { ...participant(identity), isHidden: false, isAgent: false, ...more });
  }

  announce(identity: string): void {
    if (!this.listed.has(identity) || this.local.has(identity)) return;
    this.local.add(identity);
    this.resolver.handleJoined(participant(identity));
  }

  stream(identity: string, number: number): void {
    this.resolver.holdStream(identity, (from) => this.got.push(`${from.identity}: stream ${number}`));
  }
}

test("a packet from the only unannounced client is attributed to it, and its later ones keep their order", async () => {
  const server = new Server();
  server.join("user");
  for (const number of [1, 2, 3]) server.resolver.hold(Uint8Array.of(number));
  await clock.run(15);
  server.announce("user");
  server.resolver.pass(participant("user"), Uint8Array.of(4));
  await clock.run(10_000);
  expect(server.got).toEqual(["user: 1", "user: 2", "user: 3", "user: 4"]);
});

test("packets from hidden participants and from the server have no sender", async () => {
  const server = new Server();
  server.resolver.hold(Uint8Array.of(1));
  await clock.run(10_000);
  server.join("ghost", { isHidden: true });
  server.resolver.hold(Uint8Array.of(2));
  await clock.run(10_000);
  expect(server.got).toEqual(["dropped", "dropped"]);
});

test("when several clients may have sent a packet, they are asked to repeat it once they are announced", async () => {
  const server = new Server();
  server.announceAfterMs = 3_000;
  server.join("one");
  server.join("two");
  for (const number of [1, 2]) server.resolver.hold(Uint8Array.of(number));
  await clock.run(100);
  expect(server.got).toEqual([]);
  server.announce("one");
  server.announce("two");
  await clock.run(100);
  expect(server.got).toEqual(["one or two: 1 again", "one or two: 2 again"]);
  server.resolver.pass(participant("one"), Uint8Array.of(3));
  expect(server.got.at(-1)).toBe("one: 3");
});

test("if a hidden participant may have sent it, the visible one is asked to repeat it", async () => {
  const server = new Server();
  server.join("ghost", { isHidden: true });
  server.join("user");
  server.resolver.hold(Uint8Array.of(1));
  await clock.run(1_000);
  expect(server.got).toEqual(["user: 1 again"]);
});

test("a flood that several may have sent is requested again only a few times", async () => {
  const server = new Server();
  server.join("ghost", { isHidden: true });
  server.join("user");
  for (let at = 0; at < 200; at++) server.resolver.hold(Uint8Array.of(at));
  await clock.run(10_000);
  expect(server.got.filter((line) => line.endsWith("again"))).toHaveLength(32);
  expect(server.got).toHaveLength(200);
});

test("a stream has its sender immediately, whatever else is held, but one from a hidden sender has none", async () => {
  const server = new Server();
  server.join("ghost", { isHidden: true });
  server.join("user");
  server.announceAfterMs = 3_000;
  server.resolver.hold(Uint8Array.of(1));
  server.stream("ghost", 2);
  server.stream("user", 3);
  server.stream("nobody", 4);
  await clock.run(1_000);
  expect(server.got).toEqual(["dropped", "user: stream 3"]);
  await clock.run(10_000);
  expect(server.got).toEqual(["dropped", "user: stream 3", "user: 1 again", "dropped"]);
});

test("a participant that may not send data is not considered as a sender", async () => {
  const server = new Server();
  server.join("recorder", { isHidden: true, canSend: false });
  server.join("user");
  server.resolver.hold(Uint8Array.of(1));
  await clock.run(1_000);
  expect(server.got).toEqual(["user: 1"]);
});

test("without the server's API streams and packets wait for the announcement", async () => {
  const server = new Server();
  server.isDown = true;
  server.join("user");
  server.stream("user", 1);
  server.resolver.hold(Uint8Array.of(2));
  setTimeout(() => server.announce("user"), 3_000);
  await clock.run(10_000);
  expect(server.got).toEqual(["user: stream 1", "user: 2"]);
});

test("a client that left before it was announced is known to be gone", async () => {
  const server = new Server();
  server.announceAfterMs = 100_000;
  server.join("hasty");
  server.resolver.hold(Uint8Array.of(1));
  await clock.run(100);
  server.listed.delete("hasty");
  await clock.run(20_000);
  expect(server.got).toEqual(["hasty: 1", "hasty vanished"]);
});

test("a flood without a sender is limited, and so is its cost for the server", async () => {
  const server = new Server();
  server.join("ghost", { isHidden: true });
  for (let at = 0; at < 3_000; at++) setTimeout(() => server.resolver.hold(Uint8Array.of(1)), at);
  await clock.run(20_000);
  expect(server.got).toHaveLength(3_000);
  expect(server.lists).toBeLessThan(500);
});
