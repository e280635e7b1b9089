import { expect, test } from "vitest";
import { MAX_ABSENT, Participants } from "../../../src/session/participants/participants.ts";

const participant = (identity: string) => ({ identity, sid: `PA_${identity}`, isSip: false }) as never;

test("those who left last keep their tools, and nobody can fill the memory by joining with ever new identities", () => {
  const participants = new Participants();
  const joinAndLeave = (identity: string) => {
    const { state } = participants.join(participant(identity));
    state.announce(() => new Map());
    participants.leave(identity);
  };
  participants.join(participant("ann"));
  joinAndLeave("bob");
  for (let index = 0; index < 1_000; index++) joinAndLeave(`eve-${index}`);
  joinAndLeave("bob");
  for (let index = 0; index < MAX_ABSENT - 1; index++) joinAndLeave(`eve-${index}`);

  expect(participants.isPresent("ann")).toBe(true);
  expect(participants.join(participant("bob"))).toMatchObject({
    isNewJoin: true,
    state: { joins: 2, tools: new Map() },
  });
  expect(participants.get("eve-999")).toBeUndefined();
  expect(participants.join(participant("eve-999"))).toMatchObject({ isNewJoin: true, state: { joins: 1 } });
});
