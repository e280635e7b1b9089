import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { reply, slow, text, toolUse } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { accessibilityProblems } from "./accessibility-problems.ts";
import { DRINK, openCalls, openDeveloper, openPanel, PageWorld, say } from "./page-world.ts";

const world = forFile(() => PageWorld.start());

test("axe finds no problem in the join form", async () => {
  const page = await world.open();
  await page.getByLabel("Your name").waitFor();

  expect(await accessibilityProblems(page)).toEqual([]);
  await world.picture(page, "page-join");
  // The letters are the page's own, from the worker.
  const loaded = `[...document.fonts].filter(({ status }) => status === "loaded").map(({ family }) => family)`;
  await expect.poll(() => page.evaluate(loaded)).toEqual(["Figtree Variable"]);
  expect([...world.hosts]).toEqual(["127.0.0.1"]);
});

test("a person sees before joining whether the microphone hears them, and why not", async () => {
  const page = await world.open();
  const [check, end] = ["Check the microphone", "End the check"].map((name) => page.getByRole("button", { name }));

  // The browser's simulated microphone beeps every second.
  await check?.click();
  await page.getByRole("status").getByText("Your microphone hears you.").waitFor();
  await expect.poll(() => page.evaluate("document.querySelector('meter').value")).toBeGreaterThan(0);
  expect(await accessibilityProblems(page)).toEqual([]);
  await world.picture(page, "page-check");
  await end?.click();
  await page.getByRole("meter").waitFor({ state: "detached" });

  const denied = 'Promise.reject(new DOMException("", "NotAllowedError"))';
  await page.evaluate(`navigator.mediaDevices.getUserMedia = () => ${denied}`);
  await check?.click();
  await page.getByRole("alert").getByText("The browser does not let this page use the microphone.").waitFor();
  await check?.waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
});

test("axe finds no problem in a conversation and in each side panel", async () => {
  const page = await world.join();
  world.model.script([reply([text("Tea, then.")])]);
  await say(page, "What shall I drink?");
  await page.getByText("Tea, then.", { exact: true }).waitFor();

  for (const panel of ["Conversations", "Settings"] as const) {
    await openPanel(page, panel);
    expect(await accessibilityProblems(page)).toEqual([]);
  }
  for (const tab of ["Turn", "Events", "Session"] as const) {
    await openDeveloper(page, tab);
    expect(await accessibilityProblems(page)).toEqual([]);
  }
});

test("axe finds no problem in a tool's question, an open call and a permission", async () => {
  const page = await world.join({ room: "kitchen", name: "Ann" });
  world.model.script([
    reply([text("I ask you."), toolUse("ask_user", DRINK)]),
    reply([text("And now I count."), toolUse("calculator", { expression: "21 * 2" })]),
    reply([text("Forty-two cups of tea, then.")]),
  ]);
  await say(page, "Ask me what I drink, then tell me what 21 * 2 is");
  await page.getByRole("radio", { name: "Tea" }).check();
  expect(await accessibilityProblems(page)).toEqual([]);

  await page.getByRole("button", { name: "Answer" }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);

  await dialog.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("Forty-two cups of tea, then.", { exact: true }).waitFor();
  await page.getByText("The agent: Ready").waitFor();
  await world.picture(page, "page-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await world.picture(page, "page-dark");
  await page.emulateMedia({ colorScheme: "light", forcedColors: "active" });
  await world.picture(page, "page-forced");
});

test("at 320 pixels nothing scrolls sideways", async () => {
  const page = await world.join({ room: "balcony", viewport: { width: 320, height: 640 } });
  world.model.script([
    reply([text("Look."), toolUse("show_notification", { message: "A notice with quite a few words in it" })]),
    reply([text("A-very-long-word-".repeat(20))]),
  ]);
  await say(page, "Tell me something long");
  await page.locator(".message .text").filter({ hasText: "A-very-long-word-" }).waitFor();

  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
  expect(await accessibilityProblems(page)).toEqual([]);
  await world.picture(page, "page-narrow");
});

test("a worker without a recognizer offers no microphone, says why, and never shows that it listens", async () => {
  const page = await world.join();

  await openPanel(page, "Settings");
  await page.getByText("This agent cannot hear").waitFor();
  expect(await page.getByRole("button", { name: "Microphone" }).count()).toBe(0);
  expect(await page.getByText(/listening|speak|say something/iu).count()).toBe(0);
  expect(await page.getByRole("button", { name: "Talk" }).count()).toBe(0);
});

const focused = (page: Page) => page.evaluate("document.activeElement.id");

test("the focus moves to the message field when its button disappears, and in a panel to its Close button", async () => {
  const page = await world.join();
  const line = async () => {
    await expect.poll(() => focused(page)).toBe("message");
  };
  world.model.script([
    reply([toolUse("show_notification", { message: "Tea is ready" }), toolUse("watch_oven")]),
    reply([text("The oven is ready.")]),
    reply([toolUse("calculator", { expression: "1 + 1" })]),
    reply([text("Two.")]),
  ]);
  await page.getByLabel("Message", { exact: true }).fill("Watch the oven");
  await page.getByRole("button", { name: "Send" }).press("Enter");
  await line();
  await page.getByRole("button", { name: "Close: Tea is ready" }).press("Enter");
  await line();
  await page.getByRole("button", { name: "Cancel Watch oven" }).press("Enter");
  await page.getByText("The oven is ready.", { exact: true }).waitFor();
  await line();

  await say(page, "And one and one?");
  await page.getByRole("alertdialog").waitFor();
  await page.getByRole("alertdialog").getByRole("button", { name: "Always allow", disabled: false }).press("Enter");
  await page.getByText("Two.", { exact: true }).waitFor();
  await line();
  await openPanel(page, "Settings");
  await page.getByRole("button", { name: /^Revoke calculator/ }).press("Enter");
  await page.getByRole("button", { name: "Close", exact: true }).and(page.locator(":focus")).waitFor();
});

test("an answer that ends while Stop has the focus moves the focus to the message field", async () => {
  const page = await world.join();
  world.model.script([reply([text("This goes on and on.")], { ...slow(100) })]);
  await say(page, "Tell me something");

  await page.getByRole("button", { name: "Stop" }).focus();

  await page.locator(".message.assistant[data-state=completed]").waitFor();
  await expect.poll(() => focused(page)).toBe("message");
});

/** Counts the elements with an endless animation. */
const MOVING = "document.getAnimations().filter((each) => each.effect.getTiming().iterations === Infinity).length";

test("nothing is animated for people who prefer reduced motion", async () => {
  const page = await world.join();
  world.model.script([reply([toolUse("ask_user", DRINK)])]);
  await say(page, "Ask me what I drink");
  await page.getByText("The agent: Waiting for you").waitFor();
  expect(await page.title()).toBe("Waiting for you – Parley");
  expect(await page.evaluate(MOVING)).toBeGreaterThan(0);

  await page.emulateMedia({ reducedMotion: "reduce" });

  expect(await page.evaluate(MOVING)).toBe(0);
});

/** Puts the tab in the background, and records the notifications that the page shows. */
const BACKGROUND = `(() => {
  window.notified = [];
  window.Notification = class extends EventTarget {
    static permission = "default";
    static requestPermission = async () => (Notification.permission = "granted");
    constructor(title, { body }) { super(); window.notified.push({ title, body }); }
    close() { window.notified.push("closed"); }
  };
  Object.defineProperty(document, "hidden", { get: () => window.isAway === true });
})()`;

test("a question is announced by the browser while the tab is in the background, if the person wants that", async () => {
  const page = await world.join({ before: BACKGROUND });
  await openPanel(page, "Settings");
  await page.getByRole("switch", { name: "Tell me when the agent waits" }).check();
  await page.evaluate("window.isAway = true");
  world.model.script([reply([toolUse("calculator", { expression: "1 + 1" })]), reply([text("Two.")])]);

  await say(page, "What is 1 + 1?");
  const dialog = page.getByRole("alertdialog");
  const title = await dialog.getByRole("heading").textContent();
  const waiting = { title: "The agent is waiting for you", body: title };
  await expect.poll(() => page.evaluate("window.notified")).toEqual([waiting]);
  await dialog.getByRole("button", { name: "Allow once", disabled: false }).click();

  await page.getByText("Two.", { exact: true }).waitFor();
  expect(await page.evaluate("window.notified")).toEqual([waiting, "closed"]);
});

test("a second tab with the same name takes over the session with its open question, and the first may come back", async () => {
  const first = await world.join({ room: "twice", name: "Ann" });
  world.model.script([reply([toolUse("calculator", { expression: "1 + 1" })]), reply([text("Two.")])]);
  await say(first, "What is 1 + 1?");
  await first.getByRole("alertdialog").waitFor();

  const second = await world.join({ room: "twice", name: "Ann", waits: false });
  await first.getByText("Somebody has joined under the same name").waitFor();
  expect(await first.getByRole("alertdialog").count()).toBe(0);
  expect(await accessibilityProblems(first)).toEqual([]);
  await second.getByRole("alertdialog").getByRole("button", { name: "Allow once" }).click();
  await second.getByText("Two.", { exact: true }).waitFor();
  await first.getByRole("button", { name: "Join again" }).click();

  await second.getByText("Somebody has joined under the same name").waitFor();
  await first.getByText("The agent: Ready").waitFor();
  expect(await first.getByRole("alertdialog").count()).toBe(0);
});

test("two people's tabs are two devices: each is asked in its own turns, and immediately sees the other's calls", async () => {
  const ann = await world.join({ room: "lounge", name: "Ann" });
  const ben = await world.join({ room: "lounge", name: "Ben" });
  world.model.script([
    reply([toolUse("show_notification", { message: "Tea is ready" })]),
    reply([toolUse("calculator", { expression: "1 + 1" })]),
    reply([text("Two cups.")]),
  ]);

  await say(ben, "How many cups?");
  await ben.locator(".notice").getByText("Tea is ready").waitFor();
  await ben.getByRole("alertdialog").waitFor();
  await ann.getByRole("group", { name: "Calculator: Waiting for Ben's permission" }).waitFor();
  expect(await ann.locator(".message .who").allTextContents()).toEqual(["Ben", "Agent"]);
  expect(await ann.locator(".message.user .text").textContent()).toBe("How many cups?");
  // What others say does not look like one's own words.
  const atTheStart = async (page: Page) => ((await page.locator(".message.user .body").boundingBox())?.x ?? 0) < 400;
  expect([await atTheStart(ann), await atTheStart(ben)]).toEqual([true, false]);
  expect(await ann.locator(".where").textContent()).toBe("Here: Ann, Ben");
  expect(await ann.getByRole("alertdialog").count()).toBe(0);
  await ben.getByRole("alertdialog").getByRole("button", { name: "Allow once" }).click();

  await ann.getByText("Two cups.", { exact: true }).waitFor();
  await openCalls(ann);
  await ann.getByText("Done on Ben's device").waitFor();
  expect(await ann.locator(".notice").count()).toBe(0);
});

test("a question answered in another tab closes here, too", async () => {
  const page = await world.join({ room: "answered", name: "Ann" });
  world.model.script([reply([toolUse("calculator", { expression: "1 + 1" })]), reply([text("Two.")])]);
  await say(page, "What is 1 + 1?");
  await page.getByRole("alertdialog").waitFor();

  const answer = `(async () => {
    const { token } = JSON.parse(sessionStorage.getItem("parley.open"));
    const headers = { authorization: "Bearer " + token, "content-type": "application/json" };
    const { id } = await (await fetch("/session", { headers })).json();
    const [open] = await (await fetch("/session/" + id + "/permissions", { headers })).json();
    await fetch("/session/" + id + "/permissions/" + open.id, { method: "POST", headers, body: '{"response":"once"}' });
  })()`;
  await page.evaluate(answer);

  await page.getByText("Two.", { exact: true }).waitFor();
  expect(await page.getByRole("alertdialog").count()).toBe(0);
});

test("the join form's further fields choose the agent and say who joins", async () => {
  const page = await world.open();
  await page.getByLabel("Your name").fill("Ann");
  await page.getByText("More", { exact: true }).click();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByLabel("Agent").fill("defaullt");
  await page.getByLabel("Display name").fill("Ann of Green Gables");
  await page.getByLabel("Attributes (JSON)").fill("tier=gold");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByRole("alert").innerText()).toContain("Attributes: enter a JSON object");

  await page.getByLabel("Attributes (JSON)").fill('{"tier": "gold"}');
  await page.keyboard.press("Enter");
  await page.getByLabel("The worker's secret").fill(world.secret);
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByRole("alert").innerText()).toContain('Did you mean "default"?');

  await page.getByLabel("Agent").fill("default");
  const asked = page.waitForRequest((request) => request.url().endsWith("/token"));
  await page.keyboard.press("Enter");
  await page.getByLabel("Message", { exact: true }).waitFor();
  expect((await asked).postDataJSON()).toMatchObject({
    identity: "Ann",
    name: "Ann of Green Gables",
    agent: "default",
    attributes: { tier: "gold" },
  });
});

test("a wrong secret is reported, and its field has the focus", async () => {
  const page = await world.open();
  await page.getByLabel("Your name").fill("Ann");
  await page.keyboard.press("Enter");
  const secret = page.getByLabel("The worker's secret");
  await secret.and(page.locator(":focus")).waitFor();

  await secret.fill("guessed");
  await page.keyboard.press("Enter");

  await expect.poll(() => page.getByRole("alert").innerText()).toContain("This is not the worker’s secret.");
});
