import { expect, test } from "vitest";
import { MemoryPorts, serverTool } from "./memory-ports.ts";

/** Creates a tool that counts its runs. Its calls wait at a gate, which the test opens. */
function gated(more: { readonly readOnly?: boolean; readonly background?: boolean } = {}) {
  const gate = Promise.withResolvers<void>();
  let runs = 0;
  const tool = serverTool("act", { ...more, run: () => ++runs });
  const ports = new MemoryPorts({ tools: { act: tool }, untilMayStart: () => gate.promise });
  return { ports, open: () => gate.resolve(), fail: gate.reject, runs: () => runs };
}

test("a call waits at the gate as pending, and the wait does not count as its time", async () => {
  const { ports, open, runs } = gated();
  const answer = ports.run("act");
  await Promise.resolve();
  expect([ports.ledger.openCalls()[0]?.current.state, runs()]).toEqual(["pending", 0]);
  expect(ports.ledger.openCalls()[0]?.current.deadlineAt).toBeUndefined();
  open();
  expect(await answer).toEqual({ content: "1", isError: false });
});

test.each(["readOnly", "background"])("a %s tool waits, too", async (field) => {
  const { ports, open, runs } = gated({ [field]: true });
  const answer = ports.run("act");
  await Promise.resolve();
  expect(runs()).toBe(0);
  open();
  await answer;
  expect(runs()).toBe(1);
});

test("if a session is closed meanwhile, the call never runs, and is not reported as cancelled", async () => {
  const { ports, open, runs } = gated();
  const answer = ports.run("act");
  ports.abort("closed");
  expect(await answer).toEqual({ content: "Not run: the session was closed before it was started", isError: true });
  open();
  await Promise.resolve();
  expect([runs(), ports.settled.map(({ outcome }) => outcome)]).toMatchObject([
    0,
    [{ state: "error", errorCode: "not_run" }],
  ]);
});

test.each(["interrupted", "stopped"] as const)("if a turn is %s meanwhile, the call never runs", async (kind) => {
  const { ports, open, runs } = gated();
  const answer = ports.run("act");
  ports.abort(kind);
  expect(await answer).toEqual({ content: "Cancelled before it was started", isError: true });
  open();
  await Promise.resolve();
  expect([runs(), ports.settled.length, ports.requests]).toEqual([0, 1, []]);
});

test("a gate that fails also fails the call", async () => {
  const { ports, fail } = gated();
  const answer = ports.run("act");
  fail(new Error("The voice is gone"));
  expect(await answer).toEqual({ content: "The voice is gone", isError: true });
});
