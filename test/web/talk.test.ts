import { text as streamText } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { reply, slow, text, toolUse } from "../../src/model-server/step.ts";
import { scenarioSchema } from "../../src/testing/scenario/schema.ts";
import { forFile } from "../support/lifetimes.ts";
import { accessibilityProblems } from "./accessibility-problems.ts";
import { DRINK, openCalls, openDeveloper, openPanel, PageWorld, say } from "./page-world.ts";

const world = forFile(() => PageWorld.start());

/** The timeout of polls for an answer or a reload, which take longer than a poll waits by default. */
const SOON = { timeout: 10_000 };

/** Records each text that an answer has shown while it grew. */
const WATCH = `(() => {
  window.grown = new Set();
  new MutationObserver(() => {
    const text = document.querySelector(".message.assistant .text")?.textContent;
    if (text) window.grown.add(text);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
})()`;

test("a name and the worker's secret are enough to start, and the answer appears word by word", async () => {
  const page = await world.join({ name: "Ann", room: "kitchen" });
  const words = "The kettle is on, and the bread is in the oven.";
  world.model.script([reply([text(words)], { ...slow(80), chunking: 6 })]);
  await page.evaluate(WATCH);

  await say(page, "How is breakfast?");

  await page.getByText(words, { exact: true }).waitFor();
  const grown = await page.evaluate<readonly string[]>("[...window.grown]");
  expect(grown.length).toBeGreaterThan(2);
  expect(grown.filter((shown) => !words.startsWith(shown))).toEqual([]);
  // The answer is announced to screen readers once, at the end.
  await page.getByText(`Answer: ${words}`).waitFor();
});

test("before anything is said, the page shows what the agent is for, what it can do and what to ask", async () => {
  const page = await world.join({ room: "porch" });
  await page.getByRole("heading", { name: "Parley", level: 2 }).waitFor();
  await page.getByText("Counts, and keeps an eye on the oven.", { exact: true }).waitFor();
  await page.getByText("What can it do?").click();
  const tools = page.locator(".agent-tools");
  await tools.getByRole("listitem").filter({ hasText: "Calculator on the server" }).waitFor();
  await tools.getByRole("listitem").filter({ hasText: "Notifications on this device" }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await tools.locator("summary").click();
  await world.picture(page, "page-empty");
  world.model.script([reply([text("Forty-two.")])]);

  await page.getByRole("button", { name: "What is 21 * 2?" }).press("Enter");

  await page.getByText("Forty-two.", { exact: true }).waitFor();
  expect(await page.locator(".message.user .text").textContent()).toBe("What is 21 * 2?");
  await page.getByLabel("Message", { exact: true }).and(page.locator(":focus")).waitFor();
});

test("one of the page's tools runs on the device, and its card says where", async () => {
  const page = await world.join({ room: "hall" });
  world.model.script([
    reply([text("One moment."), toolUse("show_notification", { message: "Dinner is ready" })]),
    reply([text("It is on your screen.")]),
  ]);

  await say(page, "Tell me when dinner is ready");

  await page.locator(".notice").getByText("Dinner is ready").waitFor();
  await page.getByText("It is on your screen.", { exact: true }).waitFor();
  await openCalls(page);
  const card = page.getByRole("group", { name: "Show notification: Done" });
  expect(await card.textContent()).toContain("Done on this device");
  await card.locator("summary").click();
  await card.getByLabel("Arguments").filter({ hasText: "Dinner is ready" }).waitFor();
  await world.picture(page, "page-tool");
});

test("a notice disappears when the second answer after it starts, and is not shown in another session", async () => {
  const page = await world.join({ room: "pier" });
  const notify = (message: string) => reply([toolUse("show_notification", { message })]);
  const words = (said: string) => reply([text(said)]);
  world.model.script([notify("The boat leaves"), words("Done."), words("At nine."), words("At ten.")]);
  const notice = page.locator(".notice");
  await say(page, "Tell me when the boat leaves");
  await page.getByText("Done.", { exact: true }).waitFor();
  await notice.getByText("The boat leaves").waitFor();

  await say(page, "When?");
  await page.getByText("At nine.", { exact: true }).waitFor();
  expect(await notice.count()).toBe(1);
  await say(page, "And the next?");
  await page.getByText("At ten.", { exact: true }).waitFor();
  expect(await notice.count()).toBe(0);

  world.model.script([notify("Ship ahoy"), words("Seen.")]);
  await say(page, "Tell me of ships");
  await notice.getByText("Ship ahoy").waitFor();
  await page.getByRole("button", { name: "Leave" }).click();
  const join = page.getByRole("button", { name: "Only type" });
  await join.click();
  await page.getByLabel("The worker's secret").fill(world.secret);
  await join.click();
  await page.getByText("The agent: Ready").waitFor();
  expect(await notice.count()).toBe(0);
});

const calculation = () => [
  reply([text("Let me see."), toolUse("calculator", { expression: "21 * 2" })]),
  reply([text("That is all.")]),
];
/** The messages in the model's last request, with the call's result. */
const lastResult = () => JSON.stringify(world.model.requests.at(-1)?.body["messages"]);

test("a call that needs permission runs after a click, and a grant can be revoked", async () => {
  const page = await world.join({ room: "study" });
  world.model.script(calculation());

  await say(page, "What is 21 * 2?");
  const dialog = page.getByRole("alertdialog");
  await dialog.getByLabel("Exact arguments").filter({ hasText: "21 * 2" }).waitFor();
  await page.getByText("The agent: Waiting for you").waitFor();
  await dialog.getByRole("button", { name: "Allow once", disabled: false }).waitFor();
  await world.picture(page, "page-permission");
  await dialog.getByRole("button", { name: "Always allow" }).click();

  await page.getByText("That is all.", { exact: true }).waitFor();
  expect(await dialog.count()).toBe(0);
  expect(lastResult()).toContain("42");
  await openPanel(page, "Settings");
  await page.getByRole("button", { name: /^Revoke calculator/ }).click();
  await page.getByText("No permanent permissions yet.").waitFor();
});

test("a whole session with a permission and a refusal needs only the keyboard", async () => {
  const page = await world.join();
  world.model.script([...calculation(), ...calculation()]);

  await page.keyboard.type("What is 21 * 2?");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("alertdialog");
  const allow = dialog.getByRole("button", { name: "Allow once", disabled: false });
  await allow.waitFor();
  await page.keyboard.press("Shift+Y");
  await page.getByText("That is all.", { exact: true }).waitFor();
  expect(lastResult()).toContain("42");

  // The focus has returned to the message field.
  await page.keyboard.type("Again");
  await page.keyboard.press("Enter");
  await allow.waitFor();
  await page.keyboard.press("n");
  await page.getByText("That is all.", { exact: true }).nth(1).waitFor();
  expect(lastResult()).toContain("rejected");
});

test("a question outlives a reload, and gets its whole time again when more is requested", async () => {
  const page = await world.join();
  world.model.script(calculation());
  await say(page, "What is 21 * 2?");
  const dialog = page.getByRole("alertdialog");
  await dialog.getByText("1 min 58 s left").waitFor();

  await page.reload();
  await dialog.getByText(/^1 min 5[0-8] s left$/).waitFor();
  await dialog.getByRole("button", { name: "Allow once", disabled: false }).waitFor();
  await page.keyboard.press("m");
  await dialog.getByText(/^(2 min 0 s|1 min 59 s) left$/).waitFor();

  await page.keyboard.press("y");
  await page.getByText("That is all.", { exact: true }).waitFor();
  expect(lastResult()).toContain("42");
});

test("a refusal tells the model why, with Enter in the field for the reason", async () => {
  const page = await world.join();
  world.model.script(calculation());
  await say(page, "What is 21 * 2?");

  const reason = page.getByLabel("Reason for denying (optional)");
  await reason.press("Enter");
  await reason.fill("I know it myself, yes");
  await reason.press("Enter");

  await page.getByText("That is all.", { exact: true }).waitFor();
  // The focused field disappeared with the question.
  await page.getByLabel("Message", { exact: true }).and(page.locator(":focus")).waitFor();
  expect(lastResult()).toContain("I know it myself, yes");
});

test("a page that is reloaded in the middle of a call continues with it", async () => {
  const page = await world.join();
  world.model.script([reply([text("I ask."), toolUse("ask_user", DRINK)]), reply([text("Good choice.")])]);
  await say(page, "Ask me what I drink");
  await page.getByRole("radio", { name: "Tea" }).waitFor();

  await page.reload();
  await page.getByRole("radio", { name: "Tea" }).waitFor();
  await page.getByText("I ask.", { exact: true }).waitFor();
  await page.getByRole("radio", { name: "Tea" }).check();
  await page.getByRole("button", { name: "Answer" }).click();

  await page.getByText("Good choice.", { exact: true }).waitFor();
  const texts = await page.locator(".message .text").allTextContents();
  expect(texts).toEqual(["Ask me what I drink", "I ask.", "Good choice."]);
  expect(lastResult()).toContain("Tea");
  // The page shows a single answer, which can be regenerated.
  expect(await page.locator(".message .who").allTextContents()).toEqual(["You", "Agent"]);
  await page.locator(".message.assistant").hover();
  await page.getByRole("button", { name: "Try again" }).waitFor();
});

/** Sets the clock of the page a day and ten minutes ahead of the worker's clock. */
const AHEAD = `(() => {
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...parts) { super(...(parts.length > 0 ? parts : [Date.now()])); }
    static now() { return RealDate.now() + 87_000_000; }
  };
})()`;

test("each message shows its time by the device's clock, which is the same when it is loaded from the record", async () => {
  const page = await world.join({ before: AHEAD });
  world.model.script([reply([text("Noon.")])]);
  await say(page, "When do we eat?");
  await page.getByText("Noon.", { exact: true }).waitFor();
  const times = () =>
    page
      .locator(".message time")
      .evaluateAll((shown) => shown.map((time) => Date.parse(time.getAttribute("datetime") ?? "")));
  const live = await times();

  await page.reload();
  await page.getByText("Noon.", { exact: true }).waitFor();

  // Times from the worker's HTTP server are in whole seconds.
  const apart = (await times()).map((at, index) => Math.abs(at - (live[index] ?? 0)));
  expect(apart).toHaveLength(2);
  expect(Math.max(...apart)).toBeLessThan(10_000);
  // The date is shown unless it is today.
  expect(await page.locator(".message time").first().textContent()).toMatch(/^\d{1,2}:\d\d/u);
  const { sql } = world.parts.database;
  await sql`update turns set created_at = created_at - interval '2 days' where input::text like '%When do we eat?%'`;
  await page.reload();
  await expect.poll(() => page.locator(".message time").first().textContent()).toMatch(/\d{4}.*\d{1,2}:\d\d/u);
});

/** Records what is announced to screen readers: the whole text of a live region on each change. */
const LISTEN = `(() => {
  window.announced = [];
  const LIVE = "[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive]";
  const toRegion = ({ target }) => (target instanceof Element ? target : target.parentElement)?.closest(LIVE);
  new MutationObserver((changes) => {
    for (const region of new Set(changes.map(toRegion)))
      if (region && region.textContent.trim() !== "") window.announced.push(region.textContent);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
})()`;

test("screen readers get three announcements at most in a turn with two tools and many words", async () => {
  const page = await world.join();
  await page.evaluate(LISTEN);
  const words = "The kettle is on, and the bread is in the oven. ".repeat(4).trim();
  world.model.script([
    reply([text("One moment, please. I look."), toolUse("show_notification", { message: "Tea is coming" })]),
    reply([text("And the time."), toolUse("get_time")]),
    reply([text(words)], { ...slow(30), chunking: 5 }),
  ]);

  await say(page, "How is breakfast?");
  await page.getByText(`Answer: One moment, please.`).waitFor();

  expect(await page.evaluate("window.announced")).toEqual([
    expect.stringContaining("The agent is using"),
    expect.stringContaining("Tea is coming"),
    expect.stringContaining(words),
  ]);
});

test("stop ends the answer, and an edited message is answered again", async () => {
  const page = await world.join();
  world.model.script([
    reply([text("This goes on and on and on. ".repeat(40))], { ...slow(100) }),
    reply([text("Short.")]),
  ]);
  await say(page, "Tell me a long story");
  await page.locator(".message.assistant .text").filter({ hasText: "This goes on" }).waitFor();

  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator(".message.assistant[data-state=cancelled]").waitFor();
  await page.locator(".message.user").hover();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.keyboard.press("Escape");
  // The focus has returned to the button.
  await page.keyboard.press("Enter");
  await page.getByLabel("Edit your message").fill("Tell me a short story");
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole("button", { name: "Send again" }).click();

  await page.getByText("Short.", { exact: true }).waitFor();
  expect(await page.locator(".message .text").allTextContents()).toEqual(["Tell me a short story", "Short."]);
});

test("an answer that was stopped says so in the same words when it is loaded from the record", async () => {
  const page = await world.join();
  world.model.script([reply([text("This goes on and on and on. ".repeat(40))], { ...slow(100) })]);
  await say(page, "Tell me a long story");
  await page.getByRole("button", { name: "Stop" }).click();
  const stopped = page.locator(".message[data-state=cancelled] .note");
  await stopped.getByText("Stopped", { exact: true }).waitFor();

  await page.reload();

  await expect.poll(() => stopped.allTextContents(), SOON).toEqual(["Stopped"]);
});

test("an answer is copied as it was written", async () => {
  const page = await world.join({ permissions: ["clipboard-read", "clipboard-write"] });
  world.model.script([reply([text("**Rye**, of course.")])]);
  await say(page, "Which bread?");
  await page.locator(".message.assistant[data-state=completed]").hover();

  await page.locator(".message.assistant").getByRole("button", { name: "Copy" }).click();

  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe("**Rye**, of course.");
});

test("a regenerated answer replaces the first", async () => {
  const page = await world.join();
  world.model.script([reply([text("Rye.")]), reply([text("Wheat.")])]);
  await say(page, "Which bread?");
  await page.getByText("Rye.", { exact: true }).waitFor();

  await page.locator(".message.assistant").hover();
  await page.getByRole("button", { name: "Try again" }).click();

  await page.getByText("Wheat.", { exact: true }).waitFor();
  expect(await page.locator(".message .text").allTextContents()).toEqual(["Which bread?", "Wheat."]);
});

test("a message can be edited any number of times, and each answer is announced, even with the same words", async () => {
  const page = await world.join();
  await page.evaluate(LISTEN);
  world.model.script(["Yes.", "Yes.", "No."].map((words) => reply([text(words)])));
  const edit = async (words: string) => {
    await page.locator(".message.user").hover();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Edit your message").fill(words);
    await page.getByRole("button", { name: "Send again" }).click();
  };
  const announcedCount = () => page.evaluate("window.announced.length");
  await say(page, "Is it late?");
  await expect.poll(announcedCount).toBe(1);

  await edit("Is it warm?");
  await expect.poll(announcedCount).toBe(2);
  await edit("Is it cold?");
  await expect.poll(announcedCount).toBe(3);

  expect(await page.evaluate("window.announced")).toEqual(["Answer: Yes.", "Answer: Yes.", "Answer: No."]);
  expect(await page.locator(".message .text").allTextContents()).toEqual(["Is it cold?", "No."]);
});

test("an answer that another person has regenerated replaces the first one for both, whenever they joined", async () => {
  const ann = await world.join({ room: "mill" });
  world.model.script(["Rye.", "Wheat.", "Spelt.", "Oats."].map((words) => reply([text(words)])));
  const textsOf = (page: Page) => page.locator(".message .text").allTextContents();
  await say(ann, "Which bread?");
  await ann.getByText("Rye.", { exact: true }).waitFor();
  const ben = await world.join({ room: "mill", name: "Ben" });
  await ben.getByText("Rye.", { exact: true }).waitFor();
  const answerAgain = async (by: Page, answer: string) => {
    await by.locator(".message.assistant").last().hover();
    await by.getByRole("button", { name: "Try again" }).last().click();
    for (const page of [ann, ben]) await expect.poll(() => textsOf(page), SOON).toEqual(["Which bread?", answer]);
  };

  await answerAgain(ben, "Wheat.");
  await answerAgain(ann, "Spelt.");
  await ann.reload();
  await ann.getByText("The agent: Ready").waitFor();
  await ann.getByText("Spelt.", { exact: true }).waitFor();
  await answerAgain(ben, "Oats.");

  // The pages are closed before the first page's room ends. Otherwise, the browser would report the end as a problem.
  await Promise.all([ann, ben].map((page) => page.context().close()));
});

test("messages from before a reload can be regenerated and edited, and nothing else is replaced", async () => {
  const page = await world.join();
  world.model.script(["Rye.", "Butter.", "Jam.", "Honey.", "Salt."].map((words) => reply([text(words)])));
  const textsOf = () => page.locator(".message .text").allTextContents();
  for (const [question, answer] of [["Which bread?", "Rye."] as const, ["What with it?", "Butter."] as const]) {
    await say(page, question);
    await page.getByText(answer, { exact: true }).waitFor();
  }
  await page.reload();
  await page.getByText("The agent: Ready").waitFor();

  await page.locator(".message.assistant").last().hover();
  await page.getByRole("button", { name: "Try again" }).last().click();
  await expect.poll(textsOf, SOON).toEqual(["Which bread?", "Rye.", "What with it?", "Jam."]);
  for (const [words, answer] of [["What on it?", "Honey."] as const, ["What else?", "Salt."] as const]) {
    await page.locator(".message.user").last().hover();
    await page.getByRole("button", { name: "Edit" }).last().click();
    await page.getByLabel("Edit your message").fill(words);
    await page.getByRole("button", { name: "Send again" }).click();
    await expect.poll(textsOf, SOON).toEqual(["Which bread?", "Rye.", words, answer]);
  }
  await page.reload();
  await expect.poll(textsOf, SOON).toEqual(["Which bread?", "Rye.", "What else?", "Salt."]);
});

test("while an answer grows, a reader keeps the scroll position, and at the end sees the newest words", async () => {
  const page = await world.join({ viewport: { width: 800, height: 500 } });
  const lines = (word: string) => Array.from({ length: 40 }, (_, line) => `${word} ${line}.`).join("\n");
  world.model.script([reply([text(lines("First"))]), reply([text(lines("Second"))], { ...slow(40), chunking: 30 })]);
  const list = page.getByRole("region", { name: "Messages" });
  const toEnd = () => list.evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop);

  await say(page, "Count");
  await list.getByText("First 39.").waitFor();
  await expect.poll(toEnd).toBeLessThan(2);
  await say(page, "Once more");
  await list.getByText("Second 0.").waitFor();
  await list.evaluate((element) => {
    element.scrollTop = 100;
  });
  await list.getByText("Second 39.").waitFor();

  expect(await list.evaluate((element) => element.scrollTop)).toBe(100);
  const newest = page.getByRole("button", { name: "Newest" });
  await newest.click();
  await expect.poll(toEnd).toBeLessThan(2);
  await newest.waitFor({ state: "detached" });
});

test("the events, the turn's waterfall and the transcript are shown next to the conversation", async () => {
  const page = await world.join({ room: "pantry" });
  const words = ["Flour, rice and beans.", "Enough for a week.", "Done so."];
  world.model.script([
    ...words.slice(0, 2).map((said) => reply([text(said)], { ...slow(20) })),
    reply([toolUse("show_notification", { message: "Buy oil" })]),
    reply([text("Done so.")]),
  ]);
  for (const [index, said] of ["What is in the pantry?", "How long will it last?", "Note what is missing"].entries()) {
    await say(page, said);
    await page.getByText(words[index] ?? "", { exact: true }).waitFor();
  }

  await openDeveloper(page, "Turn");
  await page.getByText("Show notification: runs").waitFor();
  await page.getByText("Whole turn").waitFor();
  await page.locator(".trend").getByText("Tokens", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Turn" }).press("ArrowRight");
  await page.getByLabel("Filter").fill("start_answer");
  await page.getByText(/^3 of \d+ messages/).waitFor();
  await page.getByRole("tab", { name: "Session" }).click();
  await page.getByRole("cell", { name: "4", exact: true }).waitFor();

  await openPanel(page, "Conversations");
  const taken = { Markdown: await saveFile(page, "Markdown"), JSON: await saveFile(page, "JSON") };
  expect([taken.Markdown.name, taken.JSON.name]).toEqual(["pantry.md", "pantry.json"]);
  for (const said of words) expect(taken.Markdown.text).toContain(said);
  const { session, turns } = JSON.parse(taken.JSON.text) as { session: unknown; turns: readonly unknown[] };
  expect(session).toMatchObject({ room: "pantry" });
  expect(turns[0]).toMatchObject({ said: "What is in the pantry?", answer: [{ type: "text", text: words[0] }] });
  expect(turns).toHaveLength(3);
});

test("the turn with a very long answer still has all its parts", async () => {
  const page = await world.join();
  // The answer consists of more messages than the page keeps.
  const words = Array.from({ length: 2_500 }, (_, number) => `${number}`).join(" ");
  world.model.script([reply([text(`${words} and over.`)], { ...slow(0.2), chunking: 5 })]);
  await say(page, "Count");
  await page.locator(".message.assistant .text").filter({ hasText: "and over." }).waitFor();

  await openDeveloper(page, "Turn");

  await page.getByText("Whole turn").waitFor();
  expect(await page.getByText("Model, until its first word").count()).toBeGreaterThan(0);
});

/** Clicks a button in the transcript, and returns the file it saves. */
async function saveFile(page: Page, button: string) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: button }).click(),
  ]);
  return { name: download.suggestedFilename(), text: await streamText(await download.createReadStream()) };
}

test("a session in another room is found in the list and continued, with what its tools did", async () => {
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
  await openPanel(page, "Conversations");
  const attic = page.getByRole("button", { name: /^What is in the attic/ });
  await attic.waitFor();
  await world.picture(page, "page-talks");
  const search = page.getByRole("searchbox", { name: "Search" });
  await search.fill("CELLAR");
  await attic.waitFor({ state: "detached" });
  await search.fill("attic");
  await attic.click();
  await page.getByText("The agent: Ready").waitFor();
  await page.getByText("Boxes.", { exact: true }).waitFor();
  await openCalls(page);
  const card = page.getByRole("group", { name: "Calculator: Done" });
  await card.locator("summary").click();
  await card.getByLabel("Result").filter({ hasText: "12" }).waitFor();
  expect(await page.getByText("Coal.").count()).toBe(0);
  await say(page, "And now?");
  await page.getByText("Boxes, still.", { exact: true }).waitFor();

  await openPanel(page, "Conversations");
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.locator(".stage[data-empty=true]").getByText("The agent: Ready").waitFor();
  expect(await page.getByText("Boxes, still.").count()).toBe(0);
});

test("a session is renamed", async () => {
  const page = await world.join({ name: "Dan", room: "shed" });
  world.model.script([reply([text("Rakes.")])]);
  await say(page, "What is in the shed?");
  await page.getByText("Rakes.", { exact: true }).waitFor();
  await openPanel(page, "Conversations");

  await page.getByRole("button", { name: "Rename What is in the shed?" }).press("Enter");
  await page.getByRole("textbox", { name: "Title" }).fill("Tools");
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.keyboard.press("Enter");

  await page.getByRole("status").getByText("Renamed.").waitFor();
  await page.getByRole("button", { name: /^Tools.*open now/ }).waitFor();
  await page.getByRole("button", { name: "Rename Tools" }).and(page.locator(":focus")).waitFor();
  // A conversation that is open cannot be deleted.
  expect(await page.getByRole("button", { name: "Delete Tools" }).count()).toBe(0);
});

test("a session is deleted once the person is sure, and its worker has closed it", async () => {
  const first = await world.join({ name: "Eve", room: "barn" });
  world.model.script([reply([text("Owls.")])]);
  await say(first, "What is in the barn?");
  await first.getByText("Owls.", { exact: true }).waitFor();
  const page = await world.join({ name: "Eve", room: "study" });
  await openPanel(page, "Conversations");

  const barn = page.getByRole("button", { name: /^What is in the barn/ });
  const deleting = page.getByRole("group", { name: "Delete What is in the barn?" });
  await page.getByRole("button", { name: "Delete What is in the barn?" }).press("Enter");
  await deleting.getByRole("button", { name: "Keep" }).and(page.locator(":focus")).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await world.picture(page, "page-delete");
  await page.keyboard.press("Escape");
  await deleting.waitFor({ state: "detached" });
  await barn.and(page.locator(":focus")).waitFor();

  await page.getByRole("button", { name: "Delete What is in the barn?" }).click();
  await deleting.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("alert").getByText("The session is still open").waitFor();
  await first.getByRole("button", { name: "Leave" }).click();
  await world.parts.rooms.deleteRoom("barn");
  const served = () => world.parts.database.sql`select from sessions where room = 'barn' and lease_owner is not null`;
  await expect.poll(async () => (await served()).length, SOON).toBe(0);
  await deleting.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("status").getByText("Deleted.").waitFor();
  await barn.waitFor({ state: "detached" });
  const turns = await world.parts.database.sql`
    select from turns join sessions on sessions.id = session_id where room = 'barn'`;
  expect(turns).toHaveLength(0);
});

test("after a reload another session can be opened, too, once its secret is typed", async () => {
  const first = await world.join({ name: "Bob", room: "loft" });
  world.model.script([reply([text("Hay.")])]);
  await say(first, "What is in the loft?");
  await first.getByText("Hay.", { exact: true }).waitFor();
  await first.getByRole("button", { name: "Leave" }).click();
  const page = await world.join({ name: "Bob", room: "vault" });

  await page.reload();
  await page.getByText("The agent: Ready").waitFor();
  await openPanel(page, "Conversations");
  await page.getByRole("button", { name: /^What is in the loft/ }).click();
  await page.getByLabel("The worker's secret").fill(world.secret);
  await page.keyboard.press("Enter");

  await page.getByText("The agent: Ready").waitFor();
  await page.getByText("Hay.", { exact: true }).waitFor();
  expect(await page.locator(".where").textContent()).toBe("Here: Bob");
});

test("a session is copied as a test that parley test can read, once something was said in it", async () => {
  const page = await world.join({ room: "larder", permissions: ["clipboard-read", "clipboard-write"] });
  await openDeveloper(page, "Session");
  await page.getByRole("button", { name: "Copy as test" }).click();
  const sentence = "This session cannot be turned into a test: nothing has been said yet";
  await page.getByRole("alert").getByText(sentence, { exact: true }).waitFor();
  expect(await page.getByText("Copied.").count()).toBe(0);
  world.model.script([
    reply([text("One moment."), toolUse("show_notification", { message: "Soup" })]),
    reply([text("It is on your screen.")]),
  ]);
  await say(page, "Tell me what there is");
  await page.getByText("It is on your screen.", { exact: true }).waitFor();

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

/**
 * Records the props object of each element. When React renders an element again, the element gets a new props object.
 */
const COUNT = `(() => {
  const givenTo = (element) => element[Object.keys(element).find((key) => key.startsWith("__reactProps$"))];
  const known = [...document.querySelectorAll(".page *")].map((element) => [element, givenTo(element)]);
  window.rendered = (selector) =>
    known.filter(([element, given]) => element.matches(selector) && givenTo(element) !== given).length;
})()`;

test(
  "with two thousand messages, typing and new words rerender none of the messages",
  { timeout: 60_000 },
  async () => {
    const page = await world.join({ room: "archive" });
    world.model.script([reply([text("One.")]), reply([text("And so on. ".repeat(30))], { ...slow(20), chunking: 10 })]);
    await say(page, "Count");
    await page.getByText("One.", { exact: true }).waitFor();
    await page.getByText("The agent: Ready").waitFor();
    await repeatTurn("archive", 999);
    await page.reload();
    await expect.poll(() => page.locator(".message").count(), { timeout: 40_000 }).toBe(2_000);
    await page.getByText("The agent: Ready").waitFor();
    await page.evaluate(COUNT);

    await page.getByLabel("Message", { exact: true }).pressSequentially("And then, what comes after that?");
    await page.keyboard.press("Enter");
    await page.locator(".message.assistant[data-state=completed]").waitFor();

    expect(await page.locator(".message").count()).toBe(2_002);
    expect(await page.evaluate("window.rendered('.message, .message *')")).toBe(0);
    // Checks that counting works: the field that was typed into must have been rendered.
    expect(await page.evaluate("window.rendered('textarea')")).toBe(1);
  },
);

/** Stores this many more copies of a room's only turn. */
async function repeatTurn(room: string, times: number): Promise<void> {
  const { sql } = world.parts.database;
  await sql`
    with first as (
      select turns.* from turns join sessions on sessions.id = turns.session_id where sessions.room = ${room}
    ), copies as (
      insert into turns (id, session_id, position, participant_identity, parent_message_id, message_id, input, state)
      select id || n, session_id, 1000 + n, participant_identity, parent_message_id || n, message_id || n, input, state
      from first, generate_series(1, ${times}::int) as n
    )
    select from first
  `;
  await sql`
    insert into turn_blocks (turn_id, sequence, block_type, text_content)
    select turns.id, 0, 'text', 'One more.' from turns where position > 1000
  `;
}

test("pages send requests only to the worker and LiveKit, and the browser reports no problem", () => {
  expect([...world.hosts]).toEqual(["127.0.0.1"]);
  // Browsers log failed requests themselves. These two are expected: 401 without the secret, and 409 for a session that
  // cannot become a test.
  expect(world.complaints.filter((line) => !/status of 40[19]/.test(line))).toEqual([]);
  expect(world.model.rejections).toEqual([]);
});
