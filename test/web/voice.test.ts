import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { accessibilityProblems } from "./accessibility-problems.ts";
import { openDeveloper, openPanel, say } from "./page-world.ts";
import { QUESTION, startSpokenWorld } from "./spoken-world.ts";

const ANSWER = "Twenty-one times two is forty-two, and your notice is on the screen.";

/** What the recognizer returns. */
let heard = QUESTION;

const world = forFile(() => startSpokenWorld({ folder: "spoken", heard: () => heard }));

/**
 * A script that records the peak loudness of what the page plays, as a root mean square from 0 to 1. Its value is false
 * while the page plays nothing.
 */
const LISTEN = `(() => {
  const audio = document.querySelector("[data-testid=sound] audio");
  if (!audio?.srcObject) return false;
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  context.createMediaStreamSource(audio.srcObject).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  window.loudest = 0;
  setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
    window.loudest = Math.max(window.loudest, Math.sqrt(power));
  }, 20);
  return true;
})()`;

test("a spoken question leads through one of the page's tools and a permission to an answer that is heard", async () => {
  const page = await world.join({ room: "voice", talks: true });
  world.model.script([
    reply([toolUse("show_notification", { message: "Counting" })]),
    reply([toolUse("calculator", { expression: "21 * 2" })]),
    reply([text(ANSWER)]),
  ]);

  await page.getByText("The agent: Hearing you").waitFor();
  await page.locator(".message.user").getByText(QUESTION, { exact: true }).waitFor();
  await page.locator(".notice").getByText("Counting").waitFor();
  // Does not use waitForFunction: the page's Content-Security-Policy would refuse its second check.
  await expect.poll(() => page.evaluate(LISTEN), { timeout: 15_000 }).toBe(true);
  await page.getByRole("alertdialog").getByRole("button", { name: "Allow once" }).click();

  await page.getByText("The agent: Speaking").waitFor();
  await world.picture(page, "page-voice");
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.locator(".message.assistant[data-state=completed]").waitFor();
  await page.getByText("The agent: Listening").waitFor();

  expect(await page.locator(".message.assistant .text").textContent()).toBe(ANSWER);
  // The whole answer was heard.
  expect(await page.locator(".message.assistant").locator(".ahead, .unheard").count()).toBe(0);
  expect(await page.evaluate("window.loudest")).toBeGreaterThan(0.02);
  expect(await page.getByText("Nobody listens").count()).toBe(0);
  await openDeveloper(page, "Turn");
  const waterfall = page.locator(".waterfall");
  for (const part of [
    "Heard",
    "Wait for the end of the turn",
    "Model, until its first word",
    "Wait for the first sound",
    "Speech",
  ])
    await waterfall.getByText(part).first().waitFor();
  for (const part of ["Show notification: runs", "Calculator: waits for permission"])
    await waterfall.getByText(part).waitFor();
  await world.picture(page, "page-turn");
}, 60_000);

test("a question that is asked aloud is answered by a spoken yes", { timeout: 60_000 }, async () => {
  heard = "Yes.";
  const page = await world.join();
  world.model.script([reply([toolUse("calculator", { expression: "21 * 2" })]), reply([text("Forty-two.")])]);
  await say(page, "What is 21 * 2?");
  await page.getByRole("alertdialog").waitFor();
  await expect.poll(() => page.evaluate(LISTEN), { timeout: 15_000 }).toBe(true);
  await expect.poll(() => page.evaluate("window.loudest"), { timeout: 15_000 }).toBeGreaterThan(0.02);

  // Clicks by script, because a dialog is open. The microphone's file begins with some seconds of silence, during which
  // the agent finishes its question.
  await page.evaluate("document.querySelector('.microphone button').click()");

  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  await page.getByText("Forty-two.", { exact: true }).waitFor();
  const [answered] = await world.parts.database.sql`
    select state, replied_via from permissions order by created_at desc limit 1`;
  expect(answered).toEqual({ state: "approved", replied_via: "voice" });
});

const STORY = Array.from({ length: 30 }, (_, count) => `Once upon a time there were ${count} kettles.`).join(" ");

/**
 * Makes the agent tell a page a long story. Resolves when the first sentence is being heard, and is no longer dimmed.
 */
async function startStory(page: Page): Promise<Page> {
  world.model.script([reply([text(STORY)])]);
  await say(page, "Tell me a story");
  await page.getByText("The agent: Speaking").waitFor();
  await page.locator(".message.assistant .ahead").filter({ hasNotText: "were 0 kettles" }).waitFor();
  return page;
}

/** Records how high the bars of the agent's presence become in each of its states. */
const WATCH_BARS = `(() => {
  window.highest = {};
  const look = () => {
    const { state } = document.querySelector(".stage").dataset;
    const heights = [...document.querySelectorAll(".presence rect")].map(({ style }) =>
      Number(/[\\d.]+/.exec(style.transform)?.[0] ?? 1));
    window.highest[state] = Math.max(window.highest[state] ?? 0, ...heights);
    requestAnimationFrame(look);
  };
  look();
})()`;
const highest = (page: Page) => page.evaluate<Readonly<Record<string, number>>>("window.highest");

test("a person who joins to talk is heard at once, and the agent's presence moves with both voices", async () => {
  heard = QUESTION;
  const page = await world.join({ talks: true });
  world.model.script([reply([text(ANSWER)])]);
  await page.evaluate(WATCH_BARS);

  await page.getByText("The agent: Hearing you").waitFor();
  await page.getByText("The agent: Speaking").waitFor();

  await expect.poll(async () => (await highest(page))["hearing"]).toBeGreaterThan(1.2);
  await expect.poll(async () => (await highest(page))["speaking"], { timeout: 10_000 }).toBeGreaterThan(1.2);
  await page.getByRole("button", { name: "Microphone", pressed: true }).waitFor();
});

test("for people who prefer reduced motion, the agent's presence stays still while the agent speaks", async () => {
  const page = await world.join({ reducedMotion: "reduce" });
  await page.evaluate(WATCH_BARS);
  await startStory(page);

  await expect.poll(async () => (await highest(page))["speaking"]).toBe(1);
});

test("each word of a spoken answer is dimmed until it is heard", async () => {
  const page = await world.join();
  await page.evaluate(`(() => {
    window.said = new Set();
    new MutationObserver(() => {
      const whole = document.querySelector(".message.assistant .text")?.textContent ?? "";
      const ahead = document.querySelector(".message.assistant .ahead")?.textContent;
      if (ahead) window.said.add(whole.slice(0, whole.length - ahead.length).trim());
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  })()`);
  await startStory(page);

  const within = async () =>
    (await page.evaluate<readonly string[]>("[...window.said]")).filter((said) => /\w$/u.test(said));
  await expect.poll(async () => (await within()).length, { timeout: 10_000 }).toBeGreaterThan(4);
  expect((await within()).filter((said) => !STORY.startsWith(said))).toEqual([]);
});

test("the unheard part of an answer that was stopped is struck through", async () => {
  const page = await world.join();
  // The microphone's file begins with some seconds of silence, during which the story is stopped.
  await page.getByRole("button", { name: "Microphone" }).click();
  await page.getByText("The agent: Listening").waitFor();
  await startStory(page);

  await page.getByRole("button", { name: "Stop" }).click();

  const unheard = page.locator(".message.assistant[data-state=cancelled] .unheard");
  await unheard.filter({ hasText: "were 29 kettles." }).waitFor();
  expect(await unheard.textContent()).not.toContain("were 0 kettles");
  expect(await accessibilityProblems(page)).toEqual([]);
});

test("heard and unheard text are distinguished item by item in a list", async () => {
  const page = await world.join();
  await page.getByRole("button", { name: "Microphone" }).click();
  await page.getByText("The agent: Listening").waitFor();
  const items = Array.from({ length: 20 }, (_, count) => `- There **were** ${count} kettles.`);
  world.model.script([reply([text(`Listen:\n\n${items.join("\n")}`)])]);
  await say(page, "List them");
  const item = page.locator(".message.assistant li");
  await item.last().waitFor();
  await expect.poll(() => item.first().locator(".ahead").count(), { timeout: 15_000 }).toBe(0);

  await page.getByRole("button", { name: "Stop" }).click();

  await page.locator(".message.assistant[data-state=cancelled]").waitFor();
  expect(await item.first().locator(".unheard").count()).toBe(0);
  expect((await item.last().locator(".unheard").allTextContents()).join("")).toBe("There were 19 kettles.");
  expect(await page.getByText("Not heard:").count()).toBe(1);
});

/** Simulates a browser in which the person has not clicked yet, so that it does not let the page play sound. */
const NO_AUTOPLAY = `(() => {
  const { play } = HTMLMediaElement.prototype;
  HTMLMediaElement.prototype.play = function () {
    return window.isAllowed ? play.call(this) : Promise.reject(new DOMException("no gesture", "NotAllowedError"));
  };
})()`;

test("sound that the browser blocks is reported, and a click lets it play", async () => {
  const page = await world.join({ before: NO_AUTOPLAY });
  await page.getByText("The browser does not play sound until you allow it.").waitFor();

  await page.evaluate("window.isAllowed = true");
  await page.getByRole("button", { name: "Play sound" }).click();

  await page.getByText("The browser does not play sound").waitFor({ state: "detached" });
  expect(await page.evaluate("document.querySelector('[data-testid=sound] audio').paused")).toBe(false);
});

test("the unspoken part of an answer that was stopped stays readable for people without a microphone", async () => {
  const page = await startStory(await world.join());

  await page.getByRole("button", { name: "Stop" }).click();

  await page.locator(".message.assistant[data-state=cancelled]").waitFor();
  await page.locator(".message.assistant .unread").filter({ hasText: "were 29 kettles." }).waitFor();
  expect(await page.locator(".message.assistant s").count()).toBe(0);
  await page.getByText("Stopped. The dimmed part was not read aloud.").waitFor();
  await page.getByLabel("Message", { exact: true }).and(page.locator(":focus")).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
});

test("Quiet ends an answer's sound, and the rest stays on the page as if it had been heard", async () => {
  const page = await startStory(await world.join());

  await page.getByRole("button", { name: "Quiet" }).click();

  await page.locator(".message.assistant[data-state=completed]").waitFor();
  expect(await page.locator(".message.assistant .text").textContent()).toBe(STORY);
  expect(await page.locator(".message.assistant").locator(".ahead, .unheard, .unread").count()).toBe(0);
  await page.getByLabel("Message", { exact: true }).and(page.locator(":focus")).waitFor();
});

test("with the sound off, which is remembered, an answer is not spoken and appears immediately", async () => {
  const page = await startStory(await world.join());
  const sound = page.getByRole("button", { name: "Sound" });

  await sound.click();
  await page.locator(".message.assistant[data-state=completed]").waitFor();
  await page.locator("[data-testid=sound] audio").waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("The agent: Ready").waitFor();
  await sound.and(page.locator("[aria-pressed=false]")).waitFor();
  world.model.script([reply([text(STORY)])]);
  await say(page, "And again?");

  // Speaking all of it takes more than a minute.
  await page.getByText(`Answer: ${STORY}`).waitFor();
  expect(await page.locator(".message.assistant").last().locator(".ahead").count()).toBe(0);
});

test("the volume is set and remembered, and the output device is selected", async () => {
  const page = await world.join();
  const audio = "document.querySelector('[data-testid=sound] audio')";
  await openPanel(page, "Settings");
  const volume = page.getByRole("slider", { name: "Volume" });
  await page.locator("[data-testid=sound] audio").waitFor({ state: "attached" });

  await volume.fill("0.25");
  expect(await page.evaluate(`${audio}.volume`)).toBe(0.25);
  await page.reload();
  await page.locator("[data-testid=sound] audio").waitFor({ state: "attached" });
  expect(await page.evaluate(`${audio}.volume`)).toBe(0.25);
  await openPanel(page, "Settings");
  expect(await volume.inputValue()).toBe("0.25");

  // Browsers reveal device names once a microphone has been allowed.
  await page.getByRole("button", { name: "Microphone" }).click();
  const choice = page.getByRole("combobox", { name: "Loudspeaker" });
  const other = choice.getByRole("option", { name: "Fake Audio Output 2" });
  await other.waitFor({ state: "attached" });
  const id = (await other.getAttribute("value")) ?? "";
  await choice.selectOption(id);
  await expect.poll(() => page.evaluate(`${audio}.sinkId`)).toBe(id);
  // The choice is still shown when the panel is opened again.
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await openPanel(page, "Settings");
  expect(await choice.inputValue()).toBe(id);
  expect(await accessibilityProblems(page)).toEqual([]);
});

test("push-to-talk can be chosen for an agent that listens all the time", async () => {
  heard = QUESTION;
  const page = await world.join();
  world.model.script(() => reply([text("Forty-two.")]));
  await openPanel(page, "Settings");
  await page.getByRole("switch", { name: "Push-to-talk" }).check();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("button", { name: "Microphone" }).click();
  await page.getByRole("button", { name: "Hold to talk" }).and(page.locator(":focus")).waitFor();
  await page.getByText("The agent: Ready").waitFor();

  await page.keyboard.down(" ");
  await page.getByText("The agent: Hearing you").waitFor();
  await page.getByText("The agent: Listening").waitFor();
  await page.keyboard.up(" ");

  await page.locator(".message.user").getByText(QUESTION).waitFor();
  await page.getByText("Forty-two.", { exact: true }).waitFor();
  expect(await page.locator(".message.user").count()).toBe(1);
});

test("the choice of push-to-talk is remembered", async () => {
  const page = await world.join();
  const choice = page.getByRole("switch", { name: "Push-to-talk" });
  await openPanel(page, "Settings");
  await choice.check();
  expect(await accessibilityProblems(page)).toEqual([]);

  await page.reload();
  await openPanel(page, "Settings");

  await choice.waitFor();
  expect(await choice.isChecked()).toBe(true);
});
