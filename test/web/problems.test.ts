import { expect, test } from "vitest";
import { reply, text } from "../../src/testing/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { PageWorld, say } from "./page-world.ts";

const world = forFile(() => PageWorld.start());

test.each([
  ["NotAllowedError", "The browser does not let this page use the microphone."],
  ["NotFoundError", "There is no microphone."],
  ["NotReadableError", "The microphone does not work."],
])("a microphone that fails with %s is told of with what to do", async (name, sentence) => {
  const page = await world.join();
  await page.evaluate(
    `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", ${JSON.stringify(name)}))`,
  );

  await page.getByRole("button", { name: "Microphone" }).click();

  await page.getByText(sentence).waitFor();
  expect(await page.getByRole("button", { name: "Microphone" }).getAttribute("aria-pressed")).toBe("false");
});

test("a network that breaks is told of, and what is written meanwhile is answered when it is back", async () => {
  const page = await world.join();
  world.model.script([reply([text("Here I am.")])]);

  world.network.isRefusing = true;
  world.network.cut();
  await page.getByText("The connection is lost. Trying again").waitFor();
  await say(page, "Are you there?");
  world.network.isRefusing = false;

  await page.getByText("Here I am.", { exact: true }).waitFor();
  await page.getByText("The connection is lost").waitFor({ state: "hidden" });
  expect(world.model.rejections).toEqual([]);
});

test("a worker that stops is told of, and the next one goes on with the talk", { timeout: 60_000 }, async () => {
  const page = await world.join();
  world.model.script([reply([text("Nice to meet you.")]), reply([text("You are Ann.")])]);
  await say(page, "My name is Ann");
  await page.getByText("Nice to meet you.", { exact: true }).waitFor();

  world.worker.kill("SIGTERM");
  await page.getByText("The agent has left, perhaps to start again.").waitFor();
  await page.getByText("No agent has come into this room.").waitFor();
  await world.startWorker();
  await page.getByText("The agent: Listening").waitFor();
  await say(page, "Who am I?");

  await page.getByText("You are Ann.", { exact: true }).waitFor();
  expect(JSON.stringify(world.model.requests.at(-1)?.body["messages"])).toContain("My name is Ann");
  expect(await page.getByText("No agent has come").count()).toBe(0);
});
