import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { accessibilityProblems } from "./accessibility-problems.ts";
import { say } from "./page-world.ts";
import { QUESTION, startSpokenWorld } from "./spoken-world.ts";

/** A browser that asks a question aloud, and an agent whose turns participants begin and end. */
const world = forFile(() => startSpokenWorld({ folder: "push-to-talk", heard: () => QUESTION }));

/** The recognizer returns the question for each part of the sound, and a busy machine may hear two parts. */
const ASKED: unknown = expect.stringContaining(QUESTION);

const holdButton = (page: Page) => page.getByRole("button", { name: "Hold to talk" });
const questions = (page: Page) => page.locator(".message.user .text").allTextContents();

/** Joins to talk. The button then has the focus. */
async function joinToTalk(name: string, room?: string): Promise<Page> {
  const page = await world.join({ name, talks: true, waits: false, ...(room !== undefined && { room }) });
  await holdButton(page).and(page.locator(":focus")).waitFor();
  // The microphone is on, but the agent does not listen.
  await page.getByText("The agent: Ready").waitFor();
  return page;
}

test("the agent hears what is said while the space bar is held", async () => {
  const page = await joinToTalk("Ann");
  world.model.script(() => reply([text("Forty-two.")]));

  await page.keyboard.down(" ");
  await page.getByRole("status").getByText("The agent hears you.").waitFor();
  await page.getByRole("button", { name: "Hold to talk", pressed: true }).waitFor();
  await page.getByText("The agent: Hearing you").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await world.picture(page, "page-push-to-talk");
  await page.getByText("The agent: Listening").waitFor();
  // The words are shown, but the agent waits.
  await page.locator(".message.user").getByText(QUESTION).waitFor();
  expect(await page.locator(".message.assistant").count()).toBe(0);
  await page.keyboard.up(" ");

  await page.getByRole("status").getByText("Sent.").waitFor();
  await page.getByText("Forty-two.", { exact: true }).waitFor();
  expect(await questions(page)).toEqual([ASKED]);
});

test("Escape drops what was said", async () => {
  const page = await joinToTalk("Ann");
  // The first answer is prepared while the person speaks, and dropped as well.
  world.model.script([reply([text("Forty-two.")]), reply([text("Good morning.")])]);

  await page.keyboard.down(" ");
  await page.getByText("The agent: Hearing you").waitFor();
  await page.locator(".message.user").getByText(QUESTION).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("status").getByText("Dropped.").waitFor();
  await page.locator(".message.user").waitFor({ state: "detached" });
  await page.keyboard.up(" ");
  await say(page, "Hello");

  await page.getByText("Good morning.", { exact: true }).waitFor();
  expect(await questions(page)).toEqual(["Hello"]);
});

test("a mouse holds the button, and its release counts beside the button, too", async () => {
  const page = await joinToTalk("Ann");
  world.model.script(() => reply([text("Forty-two.")]));

  await holdButton(page).hover();
  await page.mouse.down();
  await page.getByText("The agent: Hearing you").waitFor();
  await page.getByText("The agent: Listening").waitFor();
  await page.mouse.move(10, 10);
  await page.mouse.up();

  await page.getByText("Forty-two.", { exact: true }).waitFor();
  expect(await questions(page)).toEqual([ASKED]);
});

test("Enter begins and ends a turn, for people who cannot hold a key", async () => {
  const page = await joinToTalk("Ann");
  world.model.script(() => reply([text("Forty-two.")]));

  await page.keyboard.press("Enter");
  await page.getByText("The agent: Hearing you").waitFor();
  await page.getByText("The agent: Listening").waitFor();
  // A space in a field does not end the turn.
  await page.getByLabel("Message", { exact: true }).focus();
  await page.keyboard.type(" ");
  await page.getByRole("button", { name: "Hold to talk", pressed: true }).focus();
  await page.keyboard.press("Enter");

  await page.getByText("Forty-two.", { exact: true }).waitFor();
  expect(await questions(page)).toEqual([ASKED]);
});

test("a space bar in the message field types a space, and on another button presses that button", async () => {
  const page = await joinToTalk("Ann");
  const field = page.getByLabel("Message", { exact: true });

  await field.focus();
  await page.keyboard.type("one two");
  expect(await field.inputValue()).toBe("one two");
  await page.getByRole("button", { name: "Settings" }).focus();
  await page.keyboard.press(" ");

  await page.getByText("This agent hears you only while you hold").waitFor();
  await page.getByRole("button", { name: "Hold to talk", pressed: false }).waitFor();
  expect(await page.getByRole("status").getByText("Sent.").count()).toBe(0);
});

test("while somebody else speaks, the page says that the agent cannot hear", async () => {
  const ann = await joinToTalk("Ann", "radio");
  await ann.keyboard.down(" ");
  await ann.getByRole("status").getByText("The agent hears you.").waitFor();
  const ben = await joinToTalk("Ben", "radio");

  await ben.keyboard.down(" ");

  await ben.getByRole("alert").getByText("Another participant is speaking").waitFor();
  await ben.getByRole("button", { name: "Hold to talk", pressed: false }).waitFor();
  expect(await accessibilityProblems(ben)).toEqual([]);
});
