import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { LLMock } from "@copilotkit/aimock";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp-folder.ts";
import { freePortVariables, runMain } from "./support/run-main.ts";

/** Runs `npm run load` against a worker with these settings. Returns its report and its exit code. */
async function load(settings: NodeJS.ProcessEnv, ...flags: readonly string[]) {
  await using folder = await tempFolder();
  const main = runMain({ ...(await freePortVariables()), PARLEY_DATA_DIR: folder.path, ...settings });
  const { httpUrl = "" } = await main.ready;
  const args = ["src/cli/load.ts", "--url", httpUrl, "--json", ...flags];
  const driver = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [output, [code]] = await Promise.all([text(driver.stdout), once(driver, "exit")]);
  main.kill("SIGTERM");
  await main.ended;
  return { report: JSON.parse(output), code };
}

test("with --voice some sessions are spoken, and the report has the time from the end of speech to the agent's sound", async () => {
  const recognizer = new LLMock({ host: "127.0.0.1", port: 0, logLevel: "silent" });
  recognizer.on({ endpoint: "transcription" }, { transcription: { text: "What is 3 plus 4?" } });
  const STT_BASE_URL = `${await recognizer.start()}/v1`;

  const settings = { STT: "openai", STT_BASE_URL };
  const { report, code } = await load(settings, "--rooms", "2", "--turns", "2", "--voice", "1");
  await recognizer.stop();

  const spoken = { firstSpeechToSound: { count: 1 }, speechToSound: { count: 1 } };
  expect(report).toMatchObject({ join: { count: 2 }, answer: { count: 2 }, ...spoken, errors: {} });
  // The time includes the silence after which a turn has ended.
  expect(report.speechToSound.p50).toBeGreaterThan(500);
  expect(report.driver.cpuPercent).toBeGreaterThan(0);
  expect(code).toBe(0);
}, 90_000);

test("with --voice the report says if an agent does not listen, or has no voice", async () => {
  const settings = { STT: "none", TTS: "none" };
  const { report, code } = await load(settings, "--rooms", "2", "--turns", "1", "--voice", "1", "--timeout", "5");

  const error =
    "The agent did not subscribe to the microphone in time. Is STT set to none? " +
    "The agent did not publish audio in time. Is TTS set to none?";
  expect(report).toMatchObject({ answer: { count: 1 }, errors: { [error]: 1 } });
  expect(code).toBe(1);
}, 90_000);
