import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { VARIABLES } from "../../src/worker/settings/environment.ts";
import { trimSilence } from "../../src/speech/listen/sound.ts";
import { startModel } from "../../src/speech/start-model.ts";
import { startChromium } from "../support/servers/chromium.ts";
import { record, recorded } from "../web/recorder.ts";
import { toWav } from "../web/wav.ts";
import { forFile } from "../support/lifetimes.ts";
import { freePortVariables, processesIn } from "../worker/support/run-main.ts";
import { fetchOldestNode, oldestNode } from "./oldest-node.ts";
import { readmeBlock, ROOT, typedIn } from "./readme-blocks.ts";
import { wholeSpeech } from "../support/whole-speech.ts";
import { type RunningProgram, Terminal } from "./terminal.ts";

// npm installs hundreds of packages twice, which takes minutes on two busy cores.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

/** An empty folder into which the commands clone the repository. A clone contains only what has been committed. */
const place = forFile(async () => {
  const path = await mkdtemp(join(tmpdir(), "parley-readme-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
});
let terminal: Terminal;
const SILENT_SECONDS = 4;

beforeAll(async () => {
  const env = {
    ...process.env,
    ...Object.fromEntries(["NODE_ENV", ...Object.keys(VARIABLES)].map((name) => [name, undefined])),
    PATH: `${await fetchOldestNode()}:/usr/local/bin:/usr/bin:/bin`,
    PARLEY_CACHE_DIR: join(ROOT, ".cache"),
    npm_config_prefer_offline: "true",
    ...(await freePortVariables()),
  };
  terminal = new Terminal(place.path, env);
});

async function leaveRunning(commands: string): Promise<RunningProgram> {
  const program = await terminal.typeAndLeaveRunning(commands);
  onTestFinished(program.stop);
  return program;
}

test("the README's first block starts everything in an empty folder, on the oldest supported Node", async () => {
  const clone = readmeBlock().replace("<address of this repository>", ROOT);
  expect(await terminal.type("node --version")).toBe(`v${oldestNode()}\n`);

  const program = await leaveRunning(clone);
  terminal.folder = join(place.path, "parley");
  const talk = await terminal.type(typedIn('$ npm run talk -- --room kitchen --say "what').join("\n"));
  const spoken = await askAloud(httpUrlIn(program.printed));
  await program.stop();

  expect(program.printed).toContain("STT is not set: embedded models listen, in English");
  expect(program.printed).toContain("ready: scripted in every room of ws://127.0.0.1:");
  expect(talk).toContain("42");
  expect(spoken.shown).toMatch(/^what is (?:21|twenty.one) times (?:2|two)\?$/iu);
  expect(spoken.heard).toMatch(/42|forty.two/iu);
  expect(processesIn(place.path)).toEqual([]);
});

function httpUrlIn(printed: string): string {
  const [, url = ""] = /HTTP at (\S+)[.,] /u.exec(printed) ?? [];
  return url;
}

/**
 * Asks a spoken question on the page, through the browser's microphone. Returns the question as the page shows it, and
 * the answer as a recognizer understands its sound.
 */
async function askAloud(url: string): Promise<{ readonly shown: string; readonly heard: string }> {
  const speech = join(ROOT, ".cache/speech");
  await using models = new AsyncDisposableStack();
  const [listener, voice] = await Promise.all([startModel("listen", speech), startModel("speak", speech)]);
  for (const model of [listener, voice]) models.defer(() => model.close());
  const file = join(place.path, "question.wav");
  const { samples, sampleRate } = await wholeSpeech(voice.ask("What is twenty-one times two?"));
  // Starts with silence, so that the agent has time to subscribe to the microphone before the question.
  const question = new Int16Array(SILENT_SECONDS * sampleRate + samples.length);
  question.set(
    samples.map((sample) => sample * 32_767),
    SILENT_SECONDS * sampleRate,
  );
  await writeFile(file, toWav(question, sampleRate));
  const browser = await startChromium(file);
  models.defer(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(url);
  await page.getByLabel("Your name").fill("Ann");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Microphone", pressed: true }).waitFor();
  await expect.poll(() => record(page), { timeout: 30_000 }).toBe(true);
  await page.locator(".message.assistant[data-state=completed]").waitFor();
  const shown = await page.locator(".message.user .text").innerText();
  await page.getByText("The agent: Listening").waitFor();
  const [heard = ""] = await Array.fromAsync(listener.ask(trimSilence(await recorded(page))));
  return { shown, heard };
}

test("the quickstart's commands create an agent that runs, answers and passes its test, on the same Node", async () => {
  const create = readmeBlock("npm run create");
  expect(create).toContain("\nnpm start");

  const program = await leaveRunning(create);
  terminal.folder = join(place.path, "my-agent");
  const typed = typedIn("$ npm run talk -- --room kitchen --say 'use roll_dice");
  const printed = await terminal.type(typed.join("\n"));
  await program.stop();

  expect(program.printed).toContain("Nothing is missing.");
  expect(printed).toMatch(/← roll_dice \(run by the server\): \{"rolled":[1-6]\}/);
  expect(printed).toContain("1 runs of 1 tests, all passed");
  expect(await readdir(join(terminal.folder, "packages"))).toEqual([
    "parley-0.1.0.tgz",
    "parley-client-0.1.0.tgz",
    "parley-speech-0.1.0.tgz",
  ]);
  expect(processesIn(place.path)).toEqual([]);
});

test("no agent is created in a folder that has one, and the command that updates it is shown", async () => {
  terminal.folder = join(place.path, "parley");

  const refused = terminal.type("npm run create -- ../my-agent");
  await expect(refused).rejects.toThrow(
    "already has an agent. To give it this clone's packages, run: npm run update -- ../my-agent",
  );
  const updated = await terminal.type("npm run update -- ../my-agent");

  expect(updated).not.toContain("Building");
  expect(updated).toContain("In ../my-agent: npm install file:packages/parley-0.1.0.tgz");
});

test("create-parley says in one sentence that Node is too old", async () => {
  terminal.folder = join(place.path, "parley");

  const created = terminal.type("node dist/create-parley/dist/cli/init/create.js ../other");

  await expect(created).rejects.toThrow(
    `create-parley: Parley needs Node 22.18 or newer, but this is ${oldestNode()}: install Node 24`,
  );
  await expect(created).rejects.not.toThrow("SyntaxError");
});
