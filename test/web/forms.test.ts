import { expect, test } from "vitest";
import { reply, text, toolUse } from "../../src/testing/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { findingsOf, PageWorld, say } from "./page-world.ts";

const world = forFile(() => PageWorld.start({ env: { PARLEY_CONFIG: "test/fixtures/page/forms.config.ts" } }));

/** A page on which a tool of the server has asked for something. */
async function asked({ isAnswered = true } = {}) {
  const page = await world.join();
  world.model.script([reply([toolUse("book_table")]), ...(isAnswered ? [reply([text("So be it.")])] : [])]);
  await say(page, "Book a table");
  const form = page.getByRole("form", { name: "A table for you" });
  await form.waitFor();
  return { page, form };
}

/** What the model was told of its call. */
const lastResult = () => JSON.stringify(world.model.requests.at(-1)?.body["messages"]);

test("a form of a tool is filled in by keyboard alone, and what does not fit is told at its field", async () => {
  const { page, form } = await asked();
  await form.getByLabel("How many people").focus();
  await page.keyboard.type("40");
  await page.keyboard.press("Enter");

  await form.getByText("How many people: expected a number up to 12").waitFor();
  await form.getByLabel("How many people").and(page.locator(":focus")).waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("4");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await page.keyboard.press("Tab");
  await page.keyboard.type("ab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await page.keyboard.press("Enter");

  // Only the tool's own schema knows the pattern: the form comes again with its words.
  await form.getByText('"code":').waitFor();
  await form.getByLabel("How many people").fill("4");
  await form.getByLabel("Inside").check();
  await form.getByLabel("Code").fill("AB");
  for (const extra of ["Bread", "Olives", "Nuts"]) await form.getByRole("checkbox", { name: extra }).check();
  await form.getByRole("button", { name: "Answer", exact: true }).click();
  await form.getByText("To begin with: expected at most 2 items").waitFor();
  await form.getByRole("checkbox", { name: "Bread" }).and(page.locator(":focus")).waitFor();
  await form.getByRole("checkbox", { name: "Olives" }).uncheck();
  await form.getByRole("button", { name: "Answer", exact: true }).click();

  await page.getByText("So be it.", { exact: true }).waitFor();
  expect(await form.count()).toBe(0);
  const content = { guests: 4, place: "Inside", code: "AB", smoking: false, month: "May", extras: ["Bread", "Nuts"] };
  expect(lastResult()).toContain(JSON.stringify(JSON.stringify({ action: "accept", content })));
});

test.each([
  ["Refuse", "decline"],
  ["Not now", "cancel"],
])("%s is a %s", async (button, action) => {
  const { page, form } = await asked();
  await form.getByRole("button", { name: button }).click();

  await page.getByText("So be it.", { exact: true }).waitFor();
  expect(lastResult()).toContain(JSON.stringify(JSON.stringify({ action })));
});

test("a form goes away with its call", async () => {
  const { page, form } = await asked({ isAnswered: false });
  await world.picture(page, "page-form");
  await page.getByRole("button", { name: "Stop" }).click();

  await form.waitFor({ state: "detached" });
  await page.getByRole("group", { name: "Ask user: Cancelled" }).waitFor();
  expect(await page.getByRole("button", { name: "Answer", exact: true }).count()).toBe(0);
});

test("axe finds nothing wrong with a form, also on a narrow page in the dark", async () => {
  const { page } = await asked({ isAnswered: false });
  expect(await findingsOf(page)).toEqual([]);
  await page.setViewportSize({ width: 320, height: 640 });
  await page.emulateMedia({ colorScheme: "dark" });

  expect(await findingsOf(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
  expect(world.model.rejections).toEqual([]);
});
