import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { httpError, reply, slow, text, toolUse } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { accessibilityProblems } from "./accessibility-problems.ts";
import { buildMarkedPage, recordUnmarked, unmarkedTexts } from "./marked-page.ts";
import { overflowing } from "./overflowing.ts";
import { DRINK, openCalls, openDeveloper, openPanel, PageWorld, say } from "./page-world.ts";

/** With these settings, the page offers a microphone and a loudspeaker. Nothing is said here. */
const VOICE = { STT: "openai", STT_BASE_URL: "http://127.0.0.1:9/v1", OPENAI_API_KEY: "test", TTS: "espeak" };

/** The page with marked texts, from right to left. */
const world = forFile(async () => {
  await using starting = new AsyncDisposableStack();
  const { path } = starting.use(await tempFolder());
  const script = await buildMarkedPage(path);
  const started = starting.use(await PageWorld.start({ env: VOICE, script }));
  const ending = starting.move();
  return Object.assign(started, { [Symbol.asyncDispose]: () => ending.disposeAsync() });
});

/** What people, the model, tools and the worker say in these tests, and names and examples of code. */
const OTHERS = [
  "Parley",
  "Ann",
  "Ben",
  "Markdown",
  "JSON",
  "Counts, and keeps an eye on the oven.",
  "What is 21 * 2?",
  "What time is it?",
  "default",
  "en-GB",
  '{"tier": "gold"}',
  '{"customer": 7}',
  "Calculator",
  "Computes an arithmetic expression exactly as written.",
  "Get time",
  "Read log",
  "Reads the log.",
  "Save text",
  "Saves a text.",
  "Show card",
  "Shows a card.",
  "Slow scan",
  "Scans.",
  "Watch oven",
  "Watches the oven.",
  "Book table",
  "Books a table.",
  "A table for you",
  "How many people",
  "Inside",
  "Garden",
  "Where",
  "Code",
  "Two capital letters",
  "We smoke",
  "Anything else",
  "To begin with",
  "Jan",
  "Feb",
  "Mar",
  "Apr",
  "May",
  "Jun",
  "Jul",
  "Month",
  "Bread",
  "Olives",
  "Nuts",
  "Searches the record of this conversation, also what you are no longer shown, and gives back stored results of tools.",
  "Recall",
  "Show notification",
  "Tool execution exceeded timeout of 300ms",
  "The current date and time in a time zone.",
  "Cancelled by a participant while it was running; its outcome is unknown",
  "The model call failed: authentication (HTTP 401)",
  "Something went wrong.",
  "Please try again.",
  "Hello",
  "Good morning",
  "Tea or coffee?",
  "Tea",
  "Coffee",
  "Drink",
  "Save Tea",
  "Ask user",
  "Use calculator",
  "tool_call_state",
  "claude-sonnet-5-5",
];
const QUIET = `localStorage.setItem("parley.sound", "off");`;
const JOINING = { before: `${QUIET}${recordUnmarked(OTHERS)}`, room: "Hello" };

test("the join form says nothing that is not among the page's words", async () => {
  const page = await world.open();
  await page.addInitScript(recordUnmarked(OTHERS));
  await page.reload();
  await page.getByRole("button", { name: "Check the microphone" }).click();
  await page.getByText("Your microphone hears you.").waitFor();
  await page.getByText("More", { exact: true }).click();
  await page.getByLabel("Your name").fill("Ann");
  await page.getByLabel("Attributes (JSON)").fill("x");
  await page.keyboard.press("Enter");
  await page.getByText("Attributes: enter a JSON object").waitFor();

  expect(await unmarkedTexts(page)).toEqual([]);
});

test("permissions and forms say nothing that is not among the page's words", async () => {
  const page = await world.join(JOINING);
  world.model.script([
    reply([toolUse("save_text", { name: "Tea", text: "Tea" })]),
    reply([toolUse("ask_user", DRINK), toolUse("book_table")]),
    reply([toolUse("calculator", { expression: "1 + 1" }), toolUse("calculator", { expression: "1 + 2" })]),
    reply([text("Good morning")]),
  ]);
  await say(page, "Hello");

  const dialog = page.getByRole("alertdialog");
  await dialog.getByLabel("Arguments (you can edit them)").fill("x");
  await dialog.getByRole("button", { name: "Allow once", disabled: false }).click();
  await dialog.getByText("The arguments are not a JSON object").waitFor();
  await dialog.getByLabel("Reason for denying").fill("Tea");
  await dialog.getByRole("button", { name: "Deny" }).click();
  const form = page.getByRole("form", { name: "A table for you" });
  await form.getByRole("button", { name: "Answer" }).click();
  await form.getByText("How many people: please fill this in").waitFor();
  await form.getByRole("button", { name: "Decline" }).click();
  await page.getByRole("form", { name: "Tea or coffee?" }).getByRole("button", { name: "Not now" }).click();
  await dialog.getByText("1 more waiting").waitFor();
  await dialog.getByRole("button", { name: "Always allow", disabled: false }).click();
  await dialog.getByText("1 more waiting").waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Deny" }).click();

  await page.getByText("Good morning", { exact: true }).waitFor();
  expect(await unmarkedTexts(page)).toEqual([]);
});

test("calls say nothing that is not among the page's words, even when they are read from the record", async () => {
  const page = await world.join({ ...JOINING, room: "Drink" });
  await page.getByText("What can it do?").click();
  world.model.script([
    reply([toolUse("get_time"), toolUse("show_notification", { message: "Tea" }), toolUse("slow_scan")]),
    reply([toolUse("read_log"), toolUse("watch_oven")]),
    reply([text("Good morning")]),
  ]);
  await say(page, "Hello");
  await page.getByRole("button", { name: "Cancel Watch oven" }).click();

  await page.getByText("Good morning", { exact: true }).waitFor();
  for (const reload of [false, true]) {
    if (reload) await page.reload();
    await openCalls(page);
    for (const summary of await page.locator(".call details:not(.log) > summary").all()) await summary.click();
    await page.getByText("Too large to show in full.").waitFor();
    await page.getByText("The server answered too late.").first().waitFor();
  }
  expect(await unmarkedTexts(page)).toEqual([]);
});

test("messages say nothing that is not among the page's words", async () => {
  const page = await world.join({ ...JOINING, room: "Tea" });
  const table = "| Tea |\n|---|\n| Coffee |\n\n```\nx\n```\n\n![Tea](https://x.example/)";
  world.model.script([
    reply([text(table)]),
    reply([text("Hello ".repeat(60))], { ...slow(100) }),
    httpError(401, "authentication_error"),
  ]);
  const file = { name: "Tea", mimeType: "application/msword", buffer: Buffer.from("x") };
  await page.locator("input[type=file]").first().setInputFiles(file);
  await page.getByText("cannot be attached").waitFor();
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles({ ...file, mimeType: "text/plain" });
  await page.getByRole("button", { name: "Remove Tea" }).waitFor();
  await say(page, "Hello");
  await page.locator(".message.assistant[data-state=completed]").waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await say(page, "Hello");
  await page.getByText("Hello Hello").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped").waitFor();
  await say(page, "Hello");
  await page.getByText("The model refuses calls or cannot be reached.").waitFor();

  expect(await unmarkedTexts(page)).toEqual([]);
});

test("the panels and push-to-talk say nothing that is not among the page's words", async () => {
  const page = await world.join({ ...JOINING, name: "Ben", room: "Nuts", permissions: ["clipboard-write"] });
  world.model.script([reply([text("Good morning")])]);
  await say(page, "Hello");
  await page.getByText("Good morning", { exact: true }).waitFor();
  await openPanel(page, "Conversations");
  await page.getByRole("button", { name: "Rename Hello" }).click();
  await page.getByRole("textbox", { name: "Title" }).press("Enter");
  await page.getByRole("status").getByText("Renamed.").waitFor();
  await openPanel(page, "Settings");
  await page.getByRole("switch", { name: "Push-to-talk" }).check();
  for (const tab of ["Turn", "Events", "Session"] as const) await openDeveloper(page, tab);
  await page.getByRole("button", { name: "Copy as test" }).click();
  await page.getByText("Copied. Save it to a file").waitFor();
  await page.getByRole("button", { name: "Microphone" }).click();
  await page.getByRole("button", { name: "Hold to talk" }).press("Enter");
  await page.getByRole("status").getByText("The agent hears you.").waitFor();

  expect(await unmarkedTexts(page)).toEqual([]);
});

test("problems say nothing that is not among the page's words", async () => {
  const page = await world.join({ ...JOINING, room: "Coffee" });
  await page.evaluate(
    `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("", "NotAllowedError"))`,
  );
  await page.getByRole("button", { name: "Microphone" }).click();
  await page.getByText("The browser does not let this page use the microphone.").waitFor();
  world.network.isRefusing = true;
  world.network.cut();
  await page.getByText("The connection is lost.").waitFor();
  world.network.isRefusing = false;
  await page.getByText("The connection is lost.").waitFor({ state: "hidden" });

  await world.parts.rooms.removeParticipant("Coffee", "Ann");
  await page.getByText("You were removed from the room.").waitFor();

  expect(await unmarkedTexts(page)).toEqual([]);
});

/** The distances of an element from the left and the right edge of the page. */
async function edgesOf(page: Page, selector: string) {
  const { x = 0, width = 0 } = (await page.locator(selector).first().boundingBox()) ?? {};
  return { left: x, right: 1_280 - x - width };
}

const directionsOf = (page: Page, selector: string) =>
  page.evaluate(`[...document.querySelectorAll("${selector}")].map((each) => getComputedStyle(each).direction)`);

test("a page in a language from right to left is laid out that way, and each text keeps its own direction", async () => {
  const page = await world.join({ before: QUIET });
  world.model.script([reply([text("שלום, מה שלומך?\n\nGood morning, Ann.")])]);
  await say(page, "مرحبا، كيف حالك؟");
  await page.locator(".message.assistant[data-state=completed]").waitFor();

  expect(await page.evaluate("document.documentElement.dir")).toBe("rtl");
  expect(await directionsOf(page, ".message.user .text")).toEqual(["rtl"]);
  expect(await directionsOf(page, ".message.assistant .text > p")).toEqual(["rtl", "ltr"]);
  for (const atTheRight of [".brand", ".message.assistant .who"]) {
    const { left, right } = await edgesOf(page, atTheRight);
    expect(right).toBeLessThan(left);
  }
  for (const atTheLeft of [".message.user .body", ".composer .send"]) {
    const { left, right } = await edgesOf(page, atTheLeft);
    expect(left).toBeLessThan(right);
  }
  await openPanel(page, "Conversations");
  expect((await edgesOf(page, ".panel")).right).toBe(0);
  await openPanel(page, "Settings");
  expect((await edgesOf(page, ".panel")).left).toBe(0);
  // A switch that is on has its knob at its end.
  const knob = "getComputedStyle(document.querySelector('[role=switch]:checked'), '::before').translate";
  expect(await page.evaluate(knob)).toBe("-20px");
  expect(await overflowing(page)).toEqual([]);
});

test("code is written from left to right, also in a language from right to left", async () => {
  const page = await world.join({ before: QUIET });
  world.model.script([reply([toolUse("save_text", { name: "x", text: "שלום" })])]);
  await say(page, "Save it");
  await page.getByRole("alertdialog").getByLabel("Arguments (you can edit them)").waitFor();

  expect(await directionsOf(page, "dialog textarea, dialog code")).toEqual(["ltr", "ltr"]);
  expect(await accessibilityProblems(page)).toEqual([]);
});
