import { expect, test } from "vitest";
import { parse } from "yaml";
import { reply, text, toolUse } from "../../src/testing/model-server/step.ts";
import { scenarioSchema } from "../../src/testing/scenario/schema.ts";
import { forFile } from "../support/lifetimes.ts";
import { PageWorld, say } from "./page-world.ts";

const world = forFile(() => PageWorld.start());

test("a talk of another room is found in the list and gone on with, with what its tools did", async () => {
  const first = await world.join({ name: "Ann", room: "attic" });
  world.model.script([
    reply([toolUse("calculator", { expression: "3 * 4" })]),
    reply([text("Boxes.")]),
    reply([text("Coal.")]),
    reply([text("Boxes, still.")]),
  ]);
  await say(first, "What is in the attic?");
  await first.getByRole("alertdialog").getByRole("button", { name: "Allow once" }).click();
  await first.getByText("Boxes.", { exact: true }).waitFor();
  await first.getByRole("button", { name: "Leave" }).click();

  const page = await world.join({ name: "Ann", room: "cellar" });
  await say(page, "What is in the cellar?");
  await page.getByText("Coal.", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Talk" }).click();
  await page.getByText("What is in the attic?", { exact: true }).waitFor();
  await world.picture(page, "page-talks");
  await page.getByRole("button", { name: "Open attic" }).click();
  await page.getByText("The agent: Listening").waitFor();
  await page.getByText("Boxes.", { exact: true }).waitFor();
  const card = page.getByRole("group", { name: "Calculator: Done" });
  await card.locator("summary").click();
  await card.getByLabel("Result").filter({ hasText: "12" }).waitFor();
  expect(await page.getByText("Coal.").count()).toBe(0);
  await say(page, "And now?");
  await page.getByText("Boxes, still.", { exact: true }).waitFor();
});

test("after a reload another talk is opened as well, once its secret is typed", async () => {
  const first = await world.join({ name: "Bob", room: "loft" });
  world.model.script([reply([text("Hay.")])]);
  await say(first, "What is in the loft?");
  await first.getByText("Hay.", { exact: true }).waitFor();
  await first.getByRole("button", { name: "Leave" }).click();
  const page = await world.join({ name: "Bob", room: "vault" });

  await page.reload();
  await page.getByText("The agent: Listening").waitFor();
  await page.getByRole("tab", { name: "Talk" }).click();
  await page.getByRole("button", { name: "Open loft" }).click();
  await page.getByLabel("The worker's secret").fill(world.secret);
  await page.keyboard.press("Enter");

  await page.getByText("The agent: Listening").waitFor();
  await page.getByText("Hay.", { exact: true }).waitFor();
  expect(await page.locator(".where").textContent()).toBe("Bob in loft");
});

test("a talk is copied as a test that parley test can read", async () => {
  const page = await world.join({ room: "larder", permissions: ["clipboard-read", "clipboard-write"] });
  world.model.script([
    reply([text("One moment."), toolUse("show_notification", { message: "Soup" })]),
    reply([text("It is on your screen.")]),
  ]);
  await say(page, "Tell me what there is");
  await page.getByText("It is on your screen.", { exact: true }).waitFor();

  await page.getByRole("tab", { name: "Talk" }).click();
  await page.getByRole("button", { name: "Copy as test" }).click();
  await page.getByText("Copied.").waitFor();

  const copied = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(scenarioSchema.parse(parse(copied)).turns).toMatchObject([
    {
      user: "Tell me what there is",
      model: [
        { say: "One moment.", use: [{ show_notification: { message: "Soup" } }] },
        { say: "It is on your screen." },
      ],
      expect: [{ calls: [{ name: "show_notification" }] }, { say: ["It is on your screen."] }],
    },
  ]);
});

test("a talk in which nothing was said cannot be taken away, and the page says so", async () => {
  const page = await world.join();

  await page.getByRole("tab", { name: "Talk" }).click();
  await page.getByRole("button", { name: "Copy as test" }).click();

  const sentence = "This talk cannot be made a test: nothing has been said yet";
  await page.getByRole("alert").getByText(sentence, { exact: true }).waitFor();
  expect(await page.getByText("Copied.").count()).toBe(0);
});
