import { expect, test } from "vitest";
import { MAX_ABSENT, Peers } from "../../../src/session/peers/peers.ts";

const participant = (identity: string) => ({ identity, sid: `PA_${identity}`, isSip: false }) as never;

test("those who left last keep their tools, and nobody can fill the memory by joining with ever new identities", () => {
  const peers = new Peers();
  const joinAndLeave = (identity: string) => {
    const { peer } = peers.join(participant(identity));
    peer.announce(() => new Map());
    peers.leave(identity);
  };
  peers.join(participant("ann"));
  joinAndLeave("bob");
  for (let index = 0; index < 1_000; index++) joinAndLeave(`eve-${index}`);
  joinAndLeave("bob");
  for (let index = 0; index < MAX_ABSENT - 1; index++) joinAndLeave(`eve-${index}`);

  expect(peers.isPresent("ann")).toBe(true);
  expect(peers.join(participant("bob"))).toMatchObject({ isNewJoin: true, peer: { joins: 2, tools: new Map() } });
  expect(peers.get("eve-999")).toBeUndefined();
  expect(peers.join(participant("eve-999"))).toMatchObject({ isNewJoin: true, peer: { joins: 1 } });
});
