import { text as streamText } from "node:stream/consumers";
import { expect, test } from "vitest";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { toVisible } from "../../web/src/shared/exact-json.ts";
import { forFile } from "../support/lifetimes.ts";
import { PNG } from "../support/pictures.ts";
import { accessibilityProblems } from "./accessibility-problems.ts";
import { DRINK, openCalls, openDeveloper, PageWorld, say } from "./page-world.ts";

const world = forFile(() => PageWorld.start());

const using = (...[name, input]: Parameters<typeof toolUse>) => [
  reply([toolUse(name, input)]),
  reply([text("That is all.")]),
];
/** The messages in the model's last request, with the call's result. */
const lastResult = () => JSON.stringify(world.model.requests.at(-1)?.body["messages"]);

test("the card of a tool that answers after its deadline says so, even after a reload", async () => {
  const page = await world.join();
  world.model.script(using("slow_scan"));

  await say(page, "Scan my letter");

  const card = page.getByRole("group", { name: "Slow scan: Failed" });
  await card.getByText("The server answered too late. The answer was ignored.").waitFor();
  await card.getByText("Log (1)").click();
  await card.getByLabel("Log of Slow scan").getByText("warming up").waitFor();
  await card.locator("summary").first().click();
  expect(await accessibilityProblems(page)).toEqual([]);
  await openDeveloper(page, "Turn");
  await page.getByText("Slow scan: late answer").waitFor();

  await page.reload();
  await card.getByText("The server answered too late. The answer was ignored.").waitFor();
  await card.getByText("Log (1)").click();
  await card.getByLabel("Log of Slow scan").getByText("warming up").waitFor();
  await openDeveloper(page, "Turn");
  await page.getByText("Slow scan: late answer").waitFor();
  expect(lastResult()).toContain("timed out");
});

test("calls that have succeeded are one line, which opens their cards; a call that failed keeps its card", async () => {
  const page = await world.join();
  world.model.script([
    reply([toolUse("get_time"), toolUse("show_notification", { message: "Soup" }), toolUse("slow_scan")]),
    reply([text("That is all.")]),
  ]);
  await say(page, "What is new?");
  await page.getByText("That is all.", { exact: true }).waitFor();
  const done = page.getByRole("group", { name: /^(Get time|Show notification): Done$/ });

  for (const reload of [false, true]) {
    if (reload) await page.reload();
    const line = page.getByRole("button", { name: /^Used 2 tools/ });
    await line.waitFor();
    expect(await done.count()).toBe(0);
    await page.getByRole("group", { name: "Slow scan: Failed" }).waitFor();
    await line.press("Enter");
    await done.nth(1).waitFor();
  }
  expect(await accessibilityProblems(page)).toEqual([]);
});

test("a card that somebody has opened stays when its call succeeds", async () => {
  const page = await world.join();
  world.model.script(using("calculator", { expression: "1 + 1" }));
  await say(page, "What is 1 + 1?");
  await page.getByRole("alertdialog").waitFor();
  await page.evaluate("document.querySelector('.call details').open = true");

  await page.getByRole("alertdialog").getByRole("button", { name: "Allow once", disabled: false }).click();
  await page.getByText("That is all.", { exact: true }).waitFor();

  expect(await page.getByRole("group", { name: "Calculator: Done" }).count()).toBe(1);
});

test("a call is cancelled from its card, and the answer continues", async () => {
  const page = await world.join();
  world.model.script(using("watch_oven"));
  await say(page, "Watch the oven");
  await page.getByLabel("Log of Watch oven").filter({ hasText: "minute 1" }).waitFor();

  await page.getByRole("button", { name: "Cancel Watch oven" }).click();

  const card = page.getByRole("group", { name: "Watch oven: Cancelled" });
  await card.waitFor();
  await page.getByText("That is all.", { exact: true }).waitFor();
  expect(await card.getByRole("button").count()).toBe(0);
  expect(lastResult()).toContain("Cancelled by a participant while it was running");
});

/** A page with an open call that logs line by line. */
async function openLoggingCall() {
  const page = await world.join();
  world.model.script(using("watch_oven"));
  await say(page, "Watch the oven");
  const log = page.getByLabel("Log of Watch oven");
  await log.filter({ hasText: "minute 23" }).waitFor();
  return { page, log, cancel: page.getByRole("button", { name: "Cancel Watch oven" }) };
}

test("a log shows its newest line until somebody scrolls up", async () => {
  const { log } = await openLoggingCall();
  expect(await log.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop)).toBeLessThan(2);

  await log.evaluate((box) => {
    box.scrollTop = 0;
  });
  const [, newest = "0"] = /minute (\d+)$/u.exec((await log.textContent()) ?? "") ?? [];
  await log.filter({ hasText: `minute ${Number(newest) + 3}` }).waitFor();

  expect(await log.evaluate((box) => box.scrollTop)).toBe(0);
});

test("a log closes with its call, and can be opened again", async () => {
  const { page, log, cancel } = await openLoggingCall();

  await cancel.click();

  await log.waitFor({ state: "hidden" });
  await page.getByText(/^Log \(\d+\)$/u).click();
  expect(await log.isVisible()).toBe(true);
});

test("a log that somebody is reading stays open when its call ends", async () => {
  const { page, log, cancel } = await openLoggingCall();
  await log.focus();

  await cancel.click();

  await page.getByText("That is all.", { exact: true }).waitFor();
  expect(await log.isVisible()).toBe(true);
});

test("a result that is too large is truncated, and its card says so and saves all of it, even after a reload", async () => {
  const page = await world.join();
  world.model.script(using("read_log"));
  await say(page, "Read the log");
  await page.getByText("That is all.", { exact: true }).waitFor();
  const card = page.getByRole("group", { name: "Read log: Done" });
  const saved = async () => {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      card.getByRole("button", { name: "Save in full" }).click(),
    ]);
    expect(file.suggestedFilename()).toBe("read_log.json");
    return JSON.parse(await streamText(await file.createReadStream())) as {
      readonly result: { readonly lines: string[] };
    };
  };

  await openCalls(page);
  await card.locator("summary").click();
  await card.getByText("Too large to show in full.").waitFor();
  await card.getByLabel("Result").filter({ hasText: "[truncated: " }).waitFor();
  expect((await saved()).result.lines).toHaveLength(30_000);
  expect(await accessibilityProblems(page)).toEqual([]);

  await page.reload();
  await openCalls(page);
  await card.locator("summary").click();
  await card.getByText("Too large to show in full.").waitFor();
  expect((await saved()).result.lines).toHaveLength(30_000);
});

test("arguments may be changed before a call runs, if the tool accepts them", async () => {
  const page = await world.join();
  world.model.script(using("save_text", { name: "list", text: "Buy milk" }));
  await say(page, "Save my list");
  const dialog = page.getByRole("alertdialog");
  const draft = dialog.getByLabel("Arguments (you can edit them)");

  await draft.fill('{ "name": "list"');
  await dialog.getByRole("button", { name: "Allow once" }).click();
  await dialog.getByText("The arguments are not a JSON object").waitFor();
  await draft.fill('{ "name": "list", "text": 7 }');
  await dialog.getByRole("button", { name: "Allow once" }).click();
  await dialog.getByText('Invalid parameter "text"').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await draft.fill('{ "name": "list", "text": "Buy bread" }');
  await dialog.getByRole("button", { name: "Allow once" }).click();

  await page.getByText("That is all.", { exact: true }).waitFor();
  await openCalls(page);
  const card = page.getByRole("group", { name: "Save text: Done" });
  await card.locator("summary").click();
  await card.getByLabel("Ran with").filter({ hasText: "Buy bread" }).waitFor();
  const known = await card.textContent();
  expect(lastResult()).toContain("The participant changed the arguments");

  await page.reload();
  await openCalls(page);
  await card.locator("summary").click();
  // The card is the same as before, including the duration.
  await expect.poll(() => card.textContent()).toBe(known);
});

test("a question shows its arguments' hidden characters, and Escape does not close it", async () => {
  const page = await world.join();
  world.model.script(using("save_text", { name: "list\u202etxt.exe", text: "Buy\u200b milk" }));

  await say(page, "Save my list");

  const dialog = page.getByRole("alertdialog", { name: "Save list\\u202etxt.exe" });
  const draft = dialog.getByLabel("Arguments (you can edit them)");
  expect(await draft.inputValue()).toContain("Buy\\u200b milk");
  for (let count = 0; count < 3; count++) await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("That is all.", { exact: true }).waitFor();
  // The arguments count as unchanged: writing hidden characters out is not an edit.
  expect(lastResult()).not.toContain("The participant changed the arguments");
});

test("arguments too long for their question are shown on the call's card", async () => {
  const page = await world.join();
  const words = "a long letter ".repeat(40_000);
  // With the result, the next request would exceed the model's context, so there is no further request.
  world.model.script([reply([toolUse("save_text", { name: "letter", text: words })], { chunking: 50_000 })]);

  await say(page, "Save my letter");

  const dialog = page.getByRole("alertdialog");
  await dialog.getByLabel("Arguments received so far").filter({ hasText: "a long letter a long letter" }).waitFor();
  await dialog.getByRole("button", { name: "Deny" }).click();
  await page.getByRole("group", { name: "Save text: Denied, not run" }).waitFor();
  expect(await dialog.count()).toBe(0);
});

test("a person's own refusal is shown as such, with the person's words, even after a reload", async () => {
  const page = await world.join();
  world.model.script(using("save_text", { name: "list", text: "Buy milk" }));
  await say(page, "Save my list");
  await page.getByLabel("Reason for denying (optional)").fill("Ask me on Friday");
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByText("That is all.", { exact: true }).waitFor();

  const card = page.getByRole("group", { name: "Save text: Denied, not run" });
  for (const reload of [false, true]) {
    if (reload) await page.reload();
    await card.getByText("“Ask me on Friday”", { exact: true }).waitFor();
    expect(await card.getAttribute("data-status")).toBe("cancelled");
    expect(await card.textContent()).not.toMatch(/Failed|permission_denied|participant/u);
  }
});

/** Sets the clock of the page ten minutes ahead of the worker's clock. */
const AHEAD = `(() => {
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...parts) { super(...(parts.length > 0 ? parts : [Date.now()])); }
    static now() { return RealDate.now() + 600_000; }
  };
})()`;

test("a device whose clock is ten minutes ahead shows the correct remaining time", async () => {
  const page = await world.join({ before: AHEAD });
  world.model.script([
    reply([toolUse("ask_user", DRINK)]),
    reply([toolUse("calculator", { expression: "21 * 2" })]),
    reply([text("That is all.")]),
  ]);

  await say(page, "Ask me what I drink");

  const left = /^(2 min \d s|1 min 5\d s) left$/;
  await page.getByRole("group", { name: "Ask user: Running" }).getByText(left).waitFor();
  await page.getByRole("button", { name: "Not now" }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByText(left).waitFor();
  await dialog.getByRole("button", { name: "Deny" }).click();
  await page.getByText("That is all.", { exact: true }).waitFor();
  expect(await page.getByText(/\d (min|s) left/).count()).toBe(0);
});

const SCRIPT = "window.hacked = true";
const MARKUP = `<img src=x onerror="${SCRIPT}"><script>${SCRIPT}</script> [here](javascript:${SCRIPT})`;
const PICTURE = `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" onload="${SCRIPT}"><script>${SCRIPT}</script></svg>`;

test("whatever a person, the model and a tool write is shown as written, and never runs", async () => {
  const [name, room] = ['Ann <b>"&amp;" 👩‍🍳 \u202Eeve', "den <i>50 %</i>/.."];
  const page = await world.join({ name, room });
  const card = (src: string) => toolUse("show_card", { title: MARKUP, src, text: MARKUP });
  world.model.script([
    reply([text(MARKUP), card(PICTURE), card(`javascript:${SCRIPT}`)]),
    reply([text("That is all.")]),
  ]);
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles({ name: `<img src=x onerror=${SCRIPT}>.png`, mimeType: "image/png", buffer: Buffer.from(PNG) });

  await say(page, MARKUP);
  await page.getByText("That is all.", { exact: true }).waitFor();
  const shown = () => page.locator(".message .text").allTextContents();
  expect(await shown()).toEqual([MARKUP, MARKUP, MARKUP, MARKUP, "That is all."]);
  expect(await page.locator(".attachment").textContent()).toBe(`Attached: <img src=x onerror=${SCRIPT}>.png`);
  expect(await page.locator(".where").textContent()).toBe(`Here: ${toVisible(name)}`);
  await page.reload();
  await page.getByText("That is all.", { exact: true }).waitFor();

  expect((await shown()).filter((words) => words === MARKUP)).toHaveLength(4);
  expect(await page.locator(".page").locator("a, script, iframe, b, i").count()).toBe(0);
  expect(await page.getByRole("img", { name: MARKUP }).count()).toBe(1);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(world.model.rejections).toEqual([]);
});
