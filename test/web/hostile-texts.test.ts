import { expect, test } from "vitest";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { openDeveloper, openPanel, PageWorld, say } from "./page-world.ts";
import { overflowing } from "./overflowing.ts";

const world = forFile(() => PageWorld.start());

const LONG = "W".repeat(90);
const QUESTION = "Please tell me which of the three cities that I named yesterday is the nearest to the sea, and why";

const SIZES = [
  { width: 1_280, height: 800 },
  { width: 375, height: 667 },
];

test.each(SIZES)("a participant's long name breaks no page ($width px)", async (viewport) => {
  const room = `names-${viewport.width}`;
  const name = `<b>x</b> ${LONG}`;
  const other = await world.join({ room, name });
  const page = await world.join({ room, viewport });
  world.model.script([reply([text("Hello, both.")])]);

  await say(other, `Look: https://example.org/${LONG.toLowerCase()}`);
  await page.getByText("Hello, both.", { exact: true }).waitFor();

  await page.locator(".who").getByText(name, { exact: true }).waitFor();
  expect(await overflowing(page)).toEqual([]);
  expect(await overflowing(other)).toEqual([]);
});

test("long words in tools, forms, notices and questions do not overflow, even on a phone", async () => {
  const page = await world.join({ room: LONG });
  world.model.script([
    reply([
      toolUse("show_notification", { message: LONG }),
      toolUse("show_card", { title: LONG, src: "", text: LONG }),
      toolUse("save_text", { name: LONG, text: LONG }),
    ]),
    reply([
      toolUse("ask_user", {
        message: LONG,
        requestedSchema: {
          properties: { a: { type: "string", title: LONG, description: LONG }, b: { enum: [LONG, "Short"] } },
        },
      }),
    ]),
    reply([text("So be it.")]),
  ]);
  await say(page, LONG);
  await page.getByRole("alertdialog").waitFor();
  for (const size of SIZES) {
    await page.setViewportSize(size);
    expect(await overflowing(page)).toEqual([]);
  }
  await page.getByRole("button", { name: "Allow once", disabled: false }).click();
  await page.getByRole("button", { name: "Answer", exact: true }).waitFor();
  for (const size of SIZES) {
    await page.setViewportSize(size);
    expect(await overflowing(page)).toEqual([]);
  }
});

test("the waterfall of a long question stays within its panel", async () => {
  const page = await world.join();
  world.model.script([reply([text("That is Genoa.")])]);
  await say(page, QUESTION);
  await page.getByText("That is Genoa.", { exact: true }).waitFor();

  for (const panel of ["Conversations", "Settings"] as const) {
    await openPanel(page, panel);
    expect(await overflowing(page)).toEqual([]);
  }
  for (const tab of ["Turn", "Session", "Events"] as const) {
    await openDeveloper(page, tab);
    if (tab === "Turn") await page.getByText("total").waitFor();
    expect(await overflowing(page)).toEqual([]);
  }
});

const HIDDEN = "Bob \u202eevil";

test("cards, notices, forms and names show direction-reversing characters as text", async () => {
  const room = "reversed";
  const other = await world.join({ room, name: HIDDEN });
  const page = await world.join({ room });
  world.model.script([
    reply([text("Hello.")]),
    reply([
      toolUse("show_card", { title: HIDDEN, src: "", text: HIDDEN }),
      toolUse("show_notification", { message: HIDDEN }),
      toolUse("ask_user", {
        message: HIDDEN,
        requestedSchema: { properties: { name: { type: "string", title: HIDDEN, description: HIDDEN } } },
      }),
    ]),
  ]);
  await say(other, "Hello");
  await page.getByText("Hello.", { exact: true }).waitFor();
  await say(page, "Show all");
  await page.getByRole("button", { name: "Answer", exact: true }).waitFor();
  await page.locator(".call").first().waitFor();
  const file = { name: `${HIDDEN}.docx`, mimeType: "application/msword", buffer: Buffer.from("x") };
  await page.locator("input[type=file]").first().setInputFiles(file);
  await page.getByText("cannot be attached").waitFor();

  const shown = await page.evaluate<string>("document.querySelector('.page').textContent");
  expect(shown).not.toContain("\u202e");
  for (const place of [".who bdi", ".call-summary bdi", ".display .text", ".notice span", ".ask", ".problem"])
    await page.locator(place).filter({ hasText: "Bob \\u202eevil" }).first().waitFor();
});

test("right-to-left text is aligned right, in answers, questions and input fields", async () => {
  const page = await world.join();
  const words = "שלום, מה שלומך? English כאן.";
  world.model.script([reply([text(`${words}\n\n- ${words}\n\n> ${words}`)])]);
  const directionOf = (selector: string) =>
    page.evaluate(`getComputedStyle([...document.querySelectorAll("${selector}")].at(-1)).direction`);
  await page.getByLabel("Message", { exact: true }).fill(words);
  expect(await directionOf("#message")).toBe("rtl");
  await page.keyboard.press("Enter");
  await page.locator(".message.assistant[data-state=completed]").waitFor();

  const places = [".user .text", ".assistant .text > p", ".assistant ul", ".assistant blockquote"];
  const directions = await Promise.all(places.map((place) => directionOf(`.message${place}`)));
  expect(directions).toEqual(["rtl", "rtl", "rtl", "rtl"]);
});
