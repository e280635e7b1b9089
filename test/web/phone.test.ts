import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { reply, slow, text, toolUse } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { accessibilityProblems } from "./accessibility-problems.ts";
import { PageWorld, say } from "./page-world.ts";

const world = forFile(() => PageWorld.start());

const PHONE = { width: 375, height: 667 };
const field = (page: Page) => page.getByLabel("Message", { exact: true });

test("while the agent works there is room to write, and Stop is where Send was", async () => {
  const page = await world.join({ viewport: PHONE });
  world.model.script([reply([text("This goes on and on. ".repeat(40))], { ...slow(100) })]);
  await say(page, "Tell me a long story");
  await page.getByRole("button", { name: "Stop" }).waitFor();

  expect(await page.getByRole("button", { name: "Send" }).count()).toBe(0);
  expect((await field(page).boundingBox())?.width).toBeGreaterThan(280);
  await field(page).fill("And something else");
  await page.getByRole("button", { name: "Send" }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);
});

test("above an on-screen keyboard a form keeps the message field on the page", async () => {
  const page = await world.join({ viewport: PHONE });
  world.model.script([reply([toolUse("book_table")])]);
  await say(page, "Book a table");
  await page.getByRole("form", { name: "A table for you" }).waitFor();

  await page.setViewportSize({ width: 375, height: 340 });

  const box = await field(page).boundingBox();
  expect((box?.y ?? 340) + (box?.height ?? 0)).toBeLessThanOrEqual(340);
  const form = await page.locator(".shown").boundingBox();
  expect(form?.height).toBeGreaterThan(40);
});

test("however long a question is, its answer buttons are visible", async () => {
  const page = await world.join({ viewport: PHONE });
  world.model.script([reply([toolUse("save_text", { name: "a very long name ".repeat(60), text: "Buy milk" })])]);
  await say(page, "Save my list");
  const dialog = page.getByRole("alertdialog");

  for (const name of ["Allow once", "Always allow", "Deny"]) {
    const box = await dialog.getByRole("button", { name }).boundingBox();
    expect((box?.y ?? PHONE.height) + (box?.height ?? 0)).toBeLessThanOrEqual(PHONE.height);
  }
  expect(await dialog.evaluate((element) => element.scrollHeight > element.clientHeight)).toBe(true);
});

test("a panel covers the page, and closes with a button or Escape, which restores the focus", async () => {
  const page = await world.join({ viewport: PHONE });
  const opener = page.getByRole("button", { name: "Settings" });
  const panel = page.getByRole("complementary", { name: "Settings" });
  for (const close of ["button", "Escape"]) {
    await opener.click();
    expect(await panel.boundingBox()).toEqual({ x: 0, y: 0, ...PHONE });
    expect(await accessibilityProblems(page)).toEqual([]);
    if (close === "button") await panel.getByRole("button", { name: "Close" }).click();
    else {
      await panel.getByRole("switch").first().focus();
      await page.keyboard.press("Escape");
    }
    await panel.waitFor({ state: "detached" });
    await opener.and(page.locator(":focus")).waitFor();
  }
});
