import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import { AGENT, ROOT } from "./support/containers.ts";
import { engine, Project, showLogs } from "./support/project.ts";
import { Talk } from "./support/talk.ts";

/** A compose file that adds the model as a service. */
const MODEL = `services:
  model:
    image: node:24.21.0-slim
    command: ["node", "${ROOT}/test/compose/support/model.ts"]
    volumes: ["${ROOT}:${ROOT}:ro"]
`;

let project: Project;
beforeAll(() => writeFile(join(AGENT, "model.yml"), MODEL));
afterEach(async ({ task }) => {
  await showLogs(project, task.result?.state);
  await project[Symbol.asyncDispose]();
});

test("a first agent's containers build and hold a conversation, and continue when a service is killed", async () => {
  project = await Project.create({
    folder: AGENT,
    files: ["model.yml"],
    env: "ANTHROPIC_API_KEY=test\nANTHROPIC_BASE_URL=http://model:9000\n",
  });
  await project.compose("up", "--build", "--detach", "--wait");
  await using talk = await Talk.open({ room: "dice" });
  const answers = [(await talk.ask("roll a die")).text];

  for (const service of ["postgres", "livekit"]) {
    await project.kill(service);
    answers.push((await talk.ask("roll a die")).text);
  }

  expect(answers).toEqual(Array(3).fill("I rolled it."));
  expect(talk.events).toContainEqual(expect.objectContaining({ event: "tool_result", toolName: "roll_dice" }));
  const [worker = ""] = await project.containers("worker");
  expect(await engine("exec", worker, "sh", "-c", "touch x 2>&1 || true; touch /tmp/x")).toContain("Read-only");
});

test("a first agent without a key prints one line with the variables that it needs", async () => {
  project = await Project.create({ folder: AGENT });
  await project.compose("up", "--build", "--detach");

  // `up --wait` is no use here: a worker that was just restarted has no health status yet, and may count as healthy.
  const log = () => project.compose("logs", "--no-log-prefix", "--tail", "50", "worker");
  await expect.poll(log, { timeout: 30_000, interval: 500 }).toContain("ANTHROPIC_API_KEY");

  const lines = (await log()).split("\n").filter((line) => line.includes("ANTHROPIC_API_KEY"));
  expect(lines[0]).toContain("ANTHROPIC_BASE_URL");
});
