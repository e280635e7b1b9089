import { pino } from "pino";
import { expect, test } from "vitest";
import type { ModelRefusal } from "../../../src/llm/watch-model.ts";
import { ModelStatus } from "../../../src/worker/telemetry/model-status.ts";

const MINUTE = 60_000;
const UNAUTHORIZED: ModelRefusal = {
  kind: "authentication",
  status: 401,
  requestId: "req_1",
  apiMessage: "invalid x-api-key",
  networkCode: undefined,
};

function createStatus() {
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { base: null, timestamp: false },
    { write: (line) => void lines.push(JSON.parse(line) as never) },
  );
  let now = 0;
  const status = new ModelStatus(logger, () => now);
  return { lines, status, wait: (ms: number) => (now += ms) };
}

test("while a model refuses calls, one warning a minute has the status, the request and the API's words", () => {
  const { lines, status, wait } = createStatus();
  const refuse = () => status.note({ model: "claude", refusal: UNAUTHORIZED });

  refuse();
  wait(MINUTE - 1);
  refuse();
  refuse();
  wait(1);
  refuse();

  const warning = { level: 40, model: "claude", msg: "model refuses calls", status: 401, requestId: "req_1" };
  expect(lines).toMatchObject([
    { ...warning, apiMessage: "invalid x-api-key", failedCalls: 1 },
    { ...warning, failedCalls: 3 },
  ]);
});

test("another model, and another kind of failure, has its own warning", () => {
  const { lines, status } = createStatus();

  status.note({ model: "claude", refusal: UNAUTHORIZED });
  status.note({ model: "claude", refusal: { ...UNAUTHORIZED, kind: "connection" } });
  status.note({ model: "other", refusal: UNAUTHORIZED });

  expect(lines.map(({ model, kind }) => [model, kind])).toEqual([
    ["claude", "authentication"],
    ["claude", "connection"],
    ["other", "authentication"],
  ]);
});

test("calls that fail and succeed in turn still cause one warning a minute", () => {
  const { lines, status } = createStatus();

  for (let times = 0; times < 3; times++) {
    status.note({ model: "claude", refusal: UNAUTHORIZED });
    status.note({ model: "claude" });
  }

  expect(lines.filter(({ level }) => level === 40)).toHaveLength(1);
});

test("the check fails while any model refuses, and the log says when a model answers again", async () => {
  const { lines, status } = createStatus();
  const { check } = status.check;

  const before = await check();
  status.note({ model: "claude", refusal: UNAUTHORIZED });
  status.note({ model: "other" });
  const meanwhile = await check();
  status.note({ model: "claude" });
  status.note({ model: "claude" });

  expect([before, meanwhile, await check()]).toEqual([true, false, true]);
  expect(lines.map(({ msg }) => msg)).toEqual(["model refuses calls", "model answers again"]);
});
