import { expect, test } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { accessibilityProblems } from "./accessibility-problems.ts";
import { PageWorld, say } from "./page-world.ts";

/** A worker with room for two sessions, whose budgets are nearly zero. */
const world = forFile(() =>
  PageWorld.start({ env: { PARLEY_CONFIG: "test/fixtures/page/limits/parley.config.ts", MAX_SESSIONS: "2" } }),
);

test("a spent budget is reported, with what to do", async () => {
  const page = await world.join({ room: "garden" });
  world.model.script([reply([text("Good morning.")])]);

  await say(page, "Hello");
  await page.getByText("Good morning.", { exact: true }).waitFor();

  await page.getByText("The budget for this conversation is used up, so the agent cannot answer.").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await world.picture(page, "page-problem");
});

test("a spent daily budget is reported in the next session", async () => {
  const page = await world.join({ name: "Zoe", room: "orchard" });
  world.model.script([reply([text("Good morning.")])]);
  await say(page, "Hello");
  await page.getByText("Good morning.", { exact: true }).waitFor();
  // Frees the session's slot for the next room.
  await world.parts.rooms.deleteRoom("orchard");

  const next = await world.join({ name: "Zoe", room: "yard" });
  await say(next, "Hello");

  await next
    .getByText("Your budget for today is used up. Come back tomorrow (UTC), or ask the operator to raise it.")
    .waitFor();
  expect(await next.getByText("The budget for this conversation is used up").count()).toBe(0);
});

test("a room for which all workers are full says so, and what to do", { timeout: 60_000 }, async () => {
  // Three more rooms are too many in any case, whether or not the rooms from earlier tests are still open.
  const pages = await Promise.all(["one", "two", "three"].map((room) => world.join({ room, waits: false })));

  const full = await Promise.any(
    pages.map(async (page) =>
      page
        .getByText("All workers are full.")
        // The page reports this only after the worker has checked all rooms several times.
        .waitFor({ timeout: 45_000 })
        .then(() => page),
    ),
  );

  expect(await accessibilityProblems(full)).toEqual([]);
});
