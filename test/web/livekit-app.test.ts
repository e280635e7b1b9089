import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { AgentDispatchClient } from "livekit-server-sdk";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text } from "../../src/model-server/step.ts";
import { CACHE, fetchRecognizer } from "../support/embedded-speech.ts";
import { createToken } from "../support/participant.ts";
import { startChromium } from "../support/servers/chromium.ts";
import { jobProcesses } from "../worker/support/run-main.ts";
import { WorkerParts } from "../worker/support/worker-parts.ts";

const APP = join(import.meta.dirname, "../clients/react/livekit-app.tsx");

async function buildApp(): Promise<string> {
  const define = { "process.env.NODE_ENV": '"production"' };
  const { outputFiles } = await esbuild.build({
    entryPoints: [APP],
    bundle: true,
    write: false,
    format: "iife",
    jsx: "automatic",
    define,
  });
  return (outputFiles[0]?.text ?? "").replaceAll("</script", "<\\/script");
}

/** Serves the app until the test ends. Chromium does not let a page without a server reach a local LiveKit. */
async function serveApp(): Promise<string> {
  const page = `<!doctype html><html lang="en"><body><script>${await buildApp()}</script></body></html>`;
  const server = createServer((_, response) => void response.setHeader("content-type", "text/html").end(page));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Opens an app that uses only LiveKit's React hooks, in its own room. Returns the room's name. */
async function openApp(parts: WorkerParts, page: Page, { hasMicrophone = false } = {}): Promise<string> {
  const room = `room-${createId()}`;
  const token = await createToken(room, "user", { server: parts.livekit });
  const query = new URLSearchParams({ url: parts.livekit.url, token, ...(hasMicrophone && { microphone: "on" }) });
  await page.goto(`${await serveApp()}?${query.toString()}`);
  await page.getByRole("button", { name: "Start call" }).click();
  return room;
}

const statesOf = async (page: Page) => (await page.getByLabel("States").innerText()).split(", ");

async function ask(parts: WorkerParts, page: Page, answer: string): Promise<void> {
  parts.model.script([reply([text(answer)])]);
  await page.getByLabel("Message").fill("Hello");
  await page.getByLabel("Message").press("Enter");
  await page.getByText(answer, { exact: true }).waitFor();
}

test("an app with LiveKit's React hooks continues when the session's process is killed, and when its worker is replaced", async () => {
  await using parts = await WorkerParts.start();
  const browser = await startChromium();
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => browser.close());
  const first = await parts.run();
  const page = await browser.newPage();
  await openApp(parts, page);
  await expect.poll(async () => (await statesOf(page)).at(-1), { timeout: 20_000 }).toBe("listening");
  await ask(parts, page, "Good morning.");
  await expect.poll(async () => (await statesOf(page)).at(-1)).toBe("listening");

  for (const pid of jobProcesses(first.pid)) process.kill(pid, "SIGKILL");
  const before = (await statesOf(page)).length;
  await expect.poll(async () => (await statesOf(page)).slice(before), { timeout: 20_000 }).toContain("listening");
  await ask(parts, page, "Still here.");

  await parts.run({ env: { PARLEY_DATA_DIR: `${parts.folder}/next` } });
  first.kill("SIGTERM");
  await first.ended;
  await ask(parts, page, "Here I am.");

  // After this pause, the earlier agents have left. The app's first state is ignored, because the app had it before the
  // session started.
  await page.waitForTimeout(3_000);
  const states = (await statesOf(page)).slice(1);
  expect(states.at(-1)).toBe("listening");
  expect(states.filter((state) => !/^(?:connecting|initializing|listening|thinking)$/u.test(state))).toEqual([]);
}, 90_000);

test(
  "what is said into LiveKit's own app before an agent is there is heard and answered",
  { timeout: 120_000 },
  async () => {
    await fetchRecognizer();
    await using parts = await WorkerParts.start();
    const browser = await startChromium(join(import.meta.dirname, "../fixtures/recordings/ten-of-clubs.wav"));
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => browser.close());
    const page = await browser.newPage();
    parts.model.script([reply([text("A good card.")])]);

    const worker = await parts.run({ env: { STT: "embedded", PARLEY_CACHE_DIR: CACHE, LIVEKIT_AGENT_NAME: "late" } });
    await worker.ready;

    // As soon as the microphone is turned on, it plays the recording, which takes about a second.
    const room = await openApp(parts, page, { hasMicrophone: true });
    await page.waitForTimeout(1_500);
    const { url, apiKey, apiSecret } = parts.livekit;
    await new AgentDispatchClient(url, apiKey, apiSecret).createDispatch(room, "late");

    await page.getByText("A good card.", { exact: true }).waitFor();
    expect(await page.locator("p").allInnerTexts()).toEqual(["Ten of clubs.", "A good card."]);
  },
);
