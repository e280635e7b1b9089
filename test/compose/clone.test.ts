import { Room } from "@livekit/rtc-node";
import { afterEach, expect, test } from "vitest";
import { connect } from "../../src/client/index.ts";
import { Speaker } from "../../src/testing/stage/speaker.ts";
import { forFile } from "../support/lifetimes.ts";
import { startChromium } from "../support/servers/chromium.ts";
import { DEVELOPMENT_SECRET, engine, fetchToken, HTTP, Project, showLogs } from "./support/project.ts";
import { Talk } from "./support/talk.ts";

const project = forFile(async () => {
  const created = await Project.create();
  await created.compose("up", "--build", "--detach", "--wait");
  return created;
});

afterEach(({ task }) => showLogs(project, task.result?.state));

test("`docker compose up --build` starts a worker that uses a tool, and all services become healthy", async () => {
  await using talk = await Talk.open({ room: "first" });

  const { text } = await talk.ask("what is 21 * 2?");

  expect(text).toContain("21 * 2 is 42.");
  expect(talk.events).toContainEqual(expect.objectContaining({ event: "tool_call", toolName: "calculator" }));
  expect((await fetch(`${HTTP}/ready`)).status).toBe(200);
});

test("a participant who subscribes to the agent's track hears the answer", async () => {
  const { token, livekitUrl } = await fetchToken("heard", "ana");
  const room = new Room();
  await room.connect(livekitUrl, token, { autoSubscribe: false, dynacast: false });
  const ears = new Speaker(room);
  const parley = await connect(room);

  const answer = await parley.ask("what is 21 * 2?");
  await expect.poll(() => ears.heardAt.length, { timeout: 20_000 }).toBeGreaterThan(50);

  expect(answer.text).toContain("42");
  await parley.close();
  await room.disconnect();
});

test("the page opens and answers", async () => {
  const browser = await startChromium();
  const page = await browser.newPage();
  await page.goto(`${HTTP}/?room=page`);
  await page.getByLabel("Your name").fill("Ana");
  await page.keyboard.press("Enter");
  await page.getByLabel("The worker's secret").fill(DEVELOPMENT_SECRET);
  await page.keyboard.press("Enter");
  // It listens if the browser has a microphone.
  await page.getByText(/The agent: (?:Ready|Listening)/u).waitFor();

  await page.getByLabel("Message", { exact: true }).fill("what is 21 * 2?");
  await page.keyboard.press("Enter");

  await expect.poll(() => page.getByText("21 * 2 is 42.").count(), { timeout: 20_000 }).toBeGreaterThan(0);
  await browser.close();
});

test("an open session continues when the main process of any service is killed", async () => {
  await using talk = await Talk.open({ room: "killed" });
  const answers: string[] = [];

  for (const service of ["postgres", "livekit", "gateway", "worker"]) {
    await project.kill(service);
    const { text, ms } = await talk.ask("what is 21 * 2?");
    process.stdout.write(`${service} killed: answered after ${ms} ms\n`);
    answers.push(text);
  }

  expect(answers).toEqual(Array(4).fill(expect.stringContaining("21 * 2 is 42.")));
});

test("an open session continues when any service is restarted", async () => {
  await using talk = await Talk.open({ room: "restarted" });
  const answers: string[] = [];

  for (const service of ["postgres", "livekit", "gateway", "worker"]) {
    await project.compose("restart", service);
    const { text, ms } = await talk.ask("what is 21 * 2?");
    process.stdout.write(`${service} restarted: answered after ${ms} ms\n`);
    answers.push(text);
  }

  expect(answers).toEqual(Array(4).fill(expect.stringContaining("21 * 2 is 42.")));
});

test("all services stop in time, and resume the session when they start again", async () => {
  {
    await using talk = await Talk.open({ room: "again" });
    await talk.ask("what is 1 + 1?");
    const from = performance.now();
    await project.compose("down");
    expect(performance.now() - from).toBeLessThan(10_000);
  }
  await project.compose("up", "--detach", "--wait");
  await using talk = await Talk.open({ room: "again" });

  expect((await talk.ask("what did I just say?")).text).toBe('You said: "what is 1 + 1?"');
});

test("when one of two workers is stopped, it hands its session over to the other", async () => {
  await project.setEnv("DRAIN_SECONDS=20\n");
  await project.compose("up", "--detach", "--wait", "--scale", "worker=2");
  await using talk = await Talk.open({ room: "two workers" });
  await talk.ask("what is 1 + 1?");
  const workers = await project.containers("worker");
  // A worker counts a session only when its host process has reported it, which may be after the first answer.
  const count = async () => Promise.all(workers.map(countSessions));
  await expect.poll(async () => (await count()).toSorted((a, b) => a - b), { timeout: 15_000 }).toEqual([0, 1]);
  const sessions = await count();
  const serving = workers.filter((_, index) => sessions[index] === 1);

  await engine("stop", ...serving);
  const { text } = await talk.ask("what did I just say?");

  expect(text).toBe('You said: "what is 1 + 1?"');
  expect(await engine("inspect", "--format", "{{.State.ExitCode}}", ...serving)).toBe("0");
});

/** The number of sessions on the worker in a container. */
async function countSessions(id: string): Promise<number> {
  const script = `fetch("http://127.0.0.1:8080/metrics").then((r) => r.text()).then(console.log)`;
  const metrics = await engine("exec", id, "node", "--eval", script);
  return Number(/^parley_sessions (\d+)/m.exec(metrics)?.[1] ?? 0);
}
