import { expect, test } from "vitest";
import { httpError, reply, text, toolUse } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import { jobProcesses } from "../worker/support/run-main.ts";
import { accessibilityProblems } from "./accessibility-problems.ts";
import { DRINK, openPanel, PageWorld, say } from "./page-world.ts";

/** With these settings, the page offers a microphone. Nothing is said here, so the recognizer is never called. */
const EARS = { STT: "openai", STT_BASE_URL: "http://127.0.0.1:9/v1", OPENAI_API_KEY: "test" };
const world = forFile(() => PageWorld.start({ env: EARS }));

test("a microphone that the browser denies, that is missing or broken is reported with what to do", async () => {
  const page = await world.join();
  const microphone = page.getByRole("button", { name: "Microphone" });
  const problems = [
    ["NotAllowedError", "The browser does not let this page use the microphone."],
    ["NotFoundError", "There is no microphone."],
    ["NotReadableError", "The microphone does not work."],
  ] as const;
  for (const [name, sentence] of problems) {
    await page.evaluate(
      `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", ${JSON.stringify(name)}))`,
    );
    await microphone.click();
    await page.getByText(sentence).waitFor();
    expect(await microphone.getAttribute("aria-pressed")).toBe("false");
  }
});

/** Records which microphones the page requests. */
const WATCH_MICROPHONES = `(() => {
  const { getUserMedia } = navigator.mediaDevices;
  window.microphones = [];
  navigator.mediaDevices.getUserMedia = function (wanted) {
    window.microphones.push(JSON.stringify(wanted.audio));
    return getUserMedia.call(this, wanted);
  };
})()`;

test("another microphone is used once it is selected", async () => {
  const page = await world.join({ before: WATCH_MICROPHONES });
  await page.getByRole("button", { name: "Microphone" }).click();
  await openPanel(page, "Settings");
  const choice = page.getByRole("combobox", { name: "Microphone" });
  const other = choice.getByRole("option", { name: "Fake Audio Input 2" });
  await other.waitFor({ state: "attached" });
  const id = (await other.getAttribute("value")) ?? "";

  await choice.selectOption(id);

  await expect.poll(() => page.evaluate("window.microphones.at(-1)"), { timeout: 10_000 }).toContain(id);
  await page.getByLabel("Microphone level").waitFor();
  expect(await choice.inputValue()).toBe(id);
});

test("a model that refuses calls is reported until it answers again", async () => {
  const page = await world.join();
  const problem = page.getByText("The model refuses calls or cannot be reached.");
  world.model.script([httpError(401, "authentication_error"), reply([text("Here I am.")])]);

  await say(page, "Are you there?");
  await problem.waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await say(page, "And now?");

  await page.getByText("Here I am.", { exact: true }).waitFor();
  await problem.waitFor({ state: "hidden" });
});

test("a LiveKit that does not answer is reported on joining, which works once it is back", async () => {
  world.network.isRefusing = true;
  const page = await world.join({ waits: false });
  await page.getByRole("alert").getByText("LiveKit does not answer at").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);

  world.network.isRefusing = false;
  const join = page.getByRole("button", { name: "Only type" });
  await join.click();
  await page.getByLabel("The worker's secret").fill(world.secret);
  await join.click();

  await page.getByText("The agent: Ready").waitFor();
});

test("a token that LiveKit no longer accepts, and an unreadable record, are reported as such", async () => {
  const page = await world.join({ name: "Ann", room: "attic" });
  world.model.script([reply([text("Good evening.")])]);
  await say(page, "Good evening");
  await page.getByText("Good evening.", { exact: true }).waitFor();
  await page.route(/\/session$/u, (route) => route.fulfill({ status: 401, json: { error: "The token has expired" } }));

  await page.reload();
  await page.getByRole("alert").getByText("The worker’s record could not be loaded: The token has expired.").waitFor();
  expect(await page.locator(".stage[data-empty=true]").count()).toBe(0);

  await page.evaluate(
    `for (const [key, value] of Object.entries(sessionStorage))
      sessionStorage.setItem(key, value.replace(/"token":"[^"]+"/u, '"token":"none"'));`,
  );
  await page.reload();
  await page.getByRole("alert").getByText("LiveKit no longer accepts this conversation's token. Join again.").waitFor();
});

test("a participant who is removed from the room is told so, and may join again", async () => {
  const page = await world.join({ name: "Ann", room: "club" });

  await world.parts.rooms.removeParticipant("club", "Ann");
  await page.getByText("You were removed from the room.").waitFor();
  await page.getByRole("button", { name: "Join again" }).click();

  await page.getByText("The agent: Ready").waitFor();
  expect(await page.getByText("You were removed").count()).toBe(0);
});

test("a broken network is reported, and messages written meanwhile are answered when it is back", async () => {
  const page = await world.join();
  world.model.script([reply([text("Here I am.")])]);

  world.network.isRefusing = true;
  world.network.cut();
  await page.getByText("The connection is lost. Reconnecting").waitFor();
  await say(page, "Are you there?");
  world.network.isRefusing = false;

  await page.getByText("Here I am.", { exact: true }).waitFor();
  await page.getByText("The connection is lost").waitFor({ state: "hidden" });
  expect(world.model.rejections).toEqual([]);
});

/** How long the page may take to notice that the network is silent. LiveKit's client itself takes 15 s. */
const SOON = { timeout: 9_000 };

test("a network that the browser loses is reported immediately, until it is back", async () => {
  const page = await world.join();

  await page.context().setOffline(true);
  await page.getByText("The connection is lost. Reconnecting").waitFor(SOON);
  await page.getByText("The agent: Not connected").waitFor();
  await page.context().setOffline(false);

  await page.getByText("The agent: Ready").waitFor(SOON);
  await page.getByText("The connection is lost").waitFor({ state: "hidden" });
  expect(world.model.rejections).toEqual([]);
});

test("a connection that falls silent while nothing is said is soon reported, until it is back", async () => {
  const page = await world.join();
  const { pid } = world.parts.livekit;
  const lost = page.getByText("The connection is lost. Reconnecting");
  // An idle connection must not trigger a warning.
  await page.waitForTimeout(4_000);
  expect(await lost.count()).toBe(0);

  const stoppedAt = performance.now();
  process.kill(pid, "SIGSTOP");
  try {
    await lost.waitFor(SOON);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  process.stdout.write(`The page told of the silence after ${Math.round(performance.now() - stoppedAt)} ms\n`);

  await lost.waitFor({ state: "hidden" });
  await page.getByText("The agent: Ready").waitFor();
});

test("a silent LiveKit is reported soon after something was said, which is answered when LiveKit is back", async () => {
  const page = await world.join();
  world.model.script([reply([text("Here I am.")])]);
  const { pid } = world.parts.livekit;

  process.kill(pid, "SIGSTOP");
  try {
    await say(page, "Are you there?");
    await page.getByText("The connection is lost. Reconnecting").waitFor(SOON);
  } finally {
    process.kill(pid, "SIGCONT");
  }

  await page.getByText("Here I am.", { exact: true }).waitFor();
  await page.getByText("The connection is lost").waitFor({ state: "hidden" });
  expect(world.model.rejections).toEqual([]);
});

/** Speeds up LiveKit's client, which retries for 45 s before it gives up. */
const HURRY = `(() => {
  const { setTimeout } = window;
  window.setTimeout = (run, ms, ...more) => setTimeout(run, window.isHurried ? Math.min(ms, 50) : ms, ...more);
})()`;

test("a network that stays down ends the connection, and the session can be joined again", async () => {
  const page = await world.join({ before: HURRY });
  await page.evaluate("window.isHurried = true");

  world.network.isRefusing = true;
  world.network.cut();
  await page.getByText("The connection has ended.").waitFor();
  await page.evaluate("window.isHurried = false");
  expect(await accessibilityProblems(page)).toEqual([]);
  world.network.isRefusing = false;
  await page.getByRole("button", { name: "Join again" }).click();

  await page.getByText("The agent: Ready").waitFor();
  expect(await page.getByText("The connection has ended.").count()).toBe(0);
});

test("a killed worker is reported within 25 s, and another continues with its call", { timeout: 60_000 }, async () => {
  const page = await world.join();
  world.model.script([reply([text("I ask."), toolUse("ask_user", DRINK)]), reply([text("Good choice.")])]);
  await say(page, "Ask me what I drink");
  await page.getByRole("radio", { name: "Tea" }).waitFor();
  const { pid } = world.worker;

  for (const each of [...jobProcesses(pid), pid]) process.kill(each, "SIGKILL");
  await page.getByText("The agent has left. Another agent is joining").waitFor({ timeout: 25_000 });
  await page.getByRole("radio", { name: "Tea" }).check();
  await page.getByRole("button", { name: "Answer" }).click();
  await world.startWorker();

  await page.getByText("Good choice.", { exact: true }).waitFor();
  expect(await page.getByText(/^(The agent has left|No agent has joined)/).count()).toBe(0);
  expect(JSON.stringify(world.model.requests.at(-1)?.body["messages"])).toContain("Tea");
  expect(world.model.rejections).toEqual([]);
});

test("a worker that stops is reported, and the next one continues the session", { timeout: 60_000 }, async () => {
  const page = await world.join();
  world.model.script([reply([text("Nice to meet you.")]), reply([text("You are Ann.")])]);
  await say(page, "My name is Ann");
  await page.getByText("Nice to meet you.", { exact: true }).waitFor();
  const late = await world.open();
  await late.getByLabel("Your name").waitFor();

  world.worker.kill("SIGTERM");
  await page.getByText("The agent has left. Another agent is joining").waitFor();
  await page.getByRole("button", { name: "Microphone" }).click();
  await world.worker.exited;
  await late.keyboard.type("Ben");
  await late.keyboard.press("Enter");
  await late.getByRole("alert").getByText("The worker does not answer.").waitFor();
  await page.getByText("No agent has joined this room.").waitFor();
  await page.getByRole("button", { name: "Microphone", pressed: true }).waitFor({ state: "detached" });
  await page.getByText("No agent is listening to your microphone, so it was turned off.").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await world.startWorker();
  await page.getByText("The agent: Ready").waitFor();
  await say(page, "Who am I?");

  await page.getByText("You are Ann.", { exact: true }).waitFor();
  expect(JSON.stringify(world.model.requests.at(-1)?.body["messages"])).toContain("My name is Ann");
  expect(await page.getByText("No agent has joined").count()).toBe(0);
});
