import { expect, test } from "vitest";
import { Keypads } from "../../../src/session/room/keypads.ts";
import { fakeParticipant } from "../../support/doubles/fake-session.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

const ann = fakeParticipant("ann");
const bob = fakeParticipant("bob");

function keypads() {
  const entered: string[] = [];
  const pads = new Keypads(({ identity }, keys) => entered.push(`${identity} ${keys}`));
  const press = (keys: string, from = ann) => {
    for (const key of keys) pads.press(from, key);
  };
  return { pads, entered, press };
}

test("# ends an entry", () => {
  const { press, entered } = keypads();
  press("12#34#");
  expect(entered).toEqual(["ann 12#", "ann 34#"]);
});

test("a pause after the last key ends it, too", async () => {
  using clock = new VirtualClock();
  const { press, entered } = keypads();
  press("1");
  await clock.run(1_900);
  press("2");
  await clock.run(1_900);
  expect(entered).toEqual([]);
  await clock.run(200);
  expect(entered).toEqual(["ann 12"]);
});

test("callers' keys are kept apart", () => {
  const { press, entered } = keypads();
  press("1");
  press("2", bob);
  press("3#");
  press("4#", bob);
  expect(entered).toEqual(["ann 13#", "bob 24#"]);
});

test("anything that is not a key is left out, and an entry has a maximum length", () => {
  const { press, entered } = keypads();
  press("9x \n#");
  press("7".repeat(64));
  expect(entered).toEqual(["ann 9#", `ann ${"7".repeat(64)}`]);
});

test("nothing is reported after the end", async () => {
  using clock = new VirtualClock();
  const { pads, press, entered } = keypads();
  press("12");
  pads.close();
  await clock.run(5_000);
  expect(entered).toEqual([]);
});
