import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import type { Call } from "../../../src/conversation/call.ts";
import { AppError } from "../../../src/errors/app-error.ts";
import { failure } from "../../../src/tool/outcome.ts";
import { CallRunner } from "../../../src/tool/calls/call-runner.ts";
import { announced, MemoryPorts, serverTool } from "../memory-ports.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  const left = vi.getTimerCount();
  vi.useRealTimers();
  if (left > 0) throw new Error(`${left} timers are left`);
});

const client = (more = {}) => new MemoryPorts({ participants: { user: [announced("scan")] }, ...more });
const runs = (ran: string[], more: object = {}) =>
  serverTool("both", { execution: "either", run: () => (ran.push("server"), "from the server"), ...more });
/** Lets everything happen that takes no time. */
const settle = () => vi.advanceTimersByTimeAsync(0);
const state = (ports: MemoryPorts) =>
  ports.settled.map(({ outcome }) => (outcome && "errorCode" in outcome ? outcome.errorCode : outcome?.state));

/** The requests that were sent before their call had ended, so that a recipient may still run the call. */
const openRequests = (ports: MemoryPorts) => ports.requests.filter(({ outcome }) => !outcome);

test("a server tool's request is sent before it runs, its result after", async () => {
  const order: string[] = [];
  const ports = new MemoryPorts({
    tools: { add: serverTool("add", { run: () => (order.push("run"), { sum: 3 }) }) },
    sendRequest: async () => void order.push("request"),
  });

  expect(await ports.run("add")).toEqual({ content: '{"sum":3}', isError: false });
  expect([order, ports.results.length]).toEqual([["request", "run"], 1]);
  expect(ports.listenerCount).toBe(0);
});

test("an unknown tool is answered immediately, even one with the name of an object's own method", async () => {
  for (const name of ["nothing", "constructor", "__proto__", "../x", "ADD"]) {
    const ports = new MemoryPorts({ tools: { add: serverTool("add", {}) } });
    expect(await ports.run(name)).toEqual({ content: `Tool '${name}' not found`, isError: true });
    expect([state(ports), openRequests(ports)]).toEqual([["unknown_tool"], []]);
  }
});

test("bad input never reaches the client, and the error contains the field", async () => {
  const ports = new MemoryPorts({
    tools: { scan: serverTool("scan", { execution: "client", input: z.object({ n: z.number() }) }) },
    participants: { user: undefined },
  });

  expect((await ports.run("scan", { n: "x" })).content).toMatch(/^Invalid parameter "n": /);
  expect([state(ports), openRequests(ports)]).toEqual([["invalid_parameters"], []]);
});

test("unreadable arguments are refused with the reason", async () => {
  const ports = new MemoryPorts({ tools: { add: serverTool("add", {}) } });

  expect(await ports.run("add", { _raw: "{" }, { inputError: "not JSON" })).toEqual({
    content: "not JSON",
    isError: true,
  });
});

test.each([
  [
    "throws",
    () => {
      throw new Error("It broke");
    },
    "It broke",
  ],
  ["rejects", () => Promise.reject(new Error("It broke")), "It broke"],
  [
    "throws nothing",
    () => {
      throw undefined;
    },
    "undefined",
  ],
  [
    "throws an error without a message",
    () => {
      throw new Error("");
    },
    "The tool failed without a message",
  ],
  [
    "throws what cannot be shown",
    () => {
      throw Object.create(null);
    },
    "The tool failed without a message",
  ],
  [
    "throws what cannot be stored",
    () => {
      throw new Error("a\0b\ud800");
    },
    "a\ufffdb\ufffd",
  ],
])("a tool that %s is an error answer", async (_, run, content) => {
  const ports = new MemoryPorts({ tools: { broken: serverTool("broken", { run }) } });

  expect(await ports.run("broken")).toEqual({ content, isError: true });
  expect(state(ports)).toEqual(["execution_error"]);
});

test.each([
  [
    "a schema that throws",
    z.object({}).refine(() => {
      throw new Error("boom");
    }),
    "boom",
  ],
  ["a schema that is asynchronous", z.object({}).refine(async () => true), expect.stringContaining("Promise")],
])("%s is an error answer, and leaves no call open", async (_, input, content) => {
  const ports = new MemoryPorts({ tools: { odd: serverTool("odd", { input }) } });

  expect(await ports.run("odd")).toEqual({ content, isError: true });
  expect([ports.ledger.openCount, ports.listenerCount]).toEqual([0, 0]);
});

test.each([
  ["1e999", '{"n":1e999}', "input.n: too large for a number, send it as a string"],
  ["half a surrogate pair", '{"n":"\\ud800"}', "input.n: U+0000 and lone surrogates cannot be stored"],
  [
    "a thousand levels",
    `{"n":${"[".repeat(1_000)}${"]".repeat(1_000)}}`,
    `input.n${"[0]".repeat(27)}: deeper than 28 levels`,
  ],
])("a call with %s is refused with the location, and the record can be stored", async (_, json, fault) => {
  const ports = new MemoryPorts({ tools: { add: serverTool("add", {}) } });

  expect(await ports.run("add", JSON.parse(json))).toEqual({ content: `Invalid parameters: ${fault}`, isError: true });
  expect(JSON.stringify(ports.opened[0]?.input).isWellFormed()).toBe(true);
});

test("a slow tool is aborted at its deadline, and its later result is recorded", async () => {
  let reason: unknown;
  const slow = serverTool("slow", {
    timeoutMs: 500,
    run: (_input, { signal }) => {
      signal.addEventListener("abort", () => (reason = signal.reason), { once: true });
      return new Promise((resolve) => setTimeout(() => resolve("late"), 700));
    },
  });
  const ports = new MemoryPorts({ tools: { slow } });
  const answer = ports.run("slow");
  await vi.advanceTimersByTimeAsync(499);
  expect(ports.settled).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);

  expect(await answer).toEqual({ content: "Tool execution timed out after 0.5s", isError: true });
  expect(reason).toBeInstanceOf(Error);
  await vi.advanceTimersByTimeAsync(200);
  expect(ports.extra).toEqual([{ kind: "late", from: "server", success: true }]);
});

test("a long result is truncated with a visible mark", async () => {
  const ports = new MemoryPorts({
    tools: { long: serverTool("long", { run: () => "é".repeat(1_000) }) },
    resultMaxBytes: 101,
  });

  expect((await ports.run("long")).content).toBe(`${"é".repeat(50)}\n[truncated: 2000 bytes, the first 101 are shown]`);
});

test.each([
  ["does not move", 0],
  ["jumps an hour ahead", 3_600_000],
  ["jumps an hour back", -3_600_000],
])("a client that never answers times out once, a second after its deadline, when the clock %s", async (_, jump) => {
  const ports = client();
  const answer = ports.run("scan");
  await settle();
  vi.setSystemTime(Date.now() + jump);
  await vi.advanceTimersByTimeAsync(30_999);
  expect(ports.settled).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);

  expect(await answer).toEqual({ content: "Tool execution timed out after 30s", isError: true });
  expect(ports.cancels).toMatchObject([{ reason: "timeout" }]);
  expect(ports.answer({ late: true })).toBe("late");
  expect(state(ports)).toEqual(["timeout"]);
});

test("a result just before the deadline wins, and the deadline changes nothing", async () => {
  const ports = client();
  const answer = ports.run("scan");
  await vi.advanceTimersByTimeAsync(30_999);
  expect(ports.answer({ ok: 1 })).toBe("won");

  expect((await answer).content).toBe('{"ok":1}');
  await vi.advanceTimersByTimeAsync(10_000);
  expect([state(ports), ports.cancels, ports.listenerCount]).toEqual([["success"], [], 0]);
});

test("duplicates, strangers and unknown ids change nothing", async () => {
  const ports = client();
  const answer = ports.run("scan");
  await settle();

  expect(ports.answer({ forged: 1 }, "thief")).toBe("wrong_participant");
  expect(ports.ledger.answer("no-such-id", { state: "success", result: {} }, "user")).toBe("unknown");
  expect(ports.signal("declined", "thief")).toBe(false);
  expect(ports.answer({ ok: 1 })).toBe("won");
  expect([ports.answer({ ok: 2 }), ports.answer({ ok: 3 }, "thief")]).toEqual(["duplicate", "late"]);
  expect((await answer).content).toBe('{"ok":1}');
  expect(ports.extra.map(({ kind }) => kind)).toEqual(["wrong_participant", "duplicate", "late"]);
});

test("a client's error is the model's error", async () => {
  const ports = client();
  const answer = ports.run("scan");
  await settle();
  ports.answerError("paper_jam", "");

  expect(await answer).toEqual({ content: "paper_jam", isError: true });
});

test("a client tool that nobody has is answered immediately, and nobody is asked", async () => {
  const ports = new MemoryPorts({
    tools: { scan: serverTool("scan", { execution: "client" }) },
    participants: { user: [] },
  });

  expect((await ports.run("scan")).content).toBe("Tool 'scan' is not available on any connected device");
  expect(openRequests(ports)).toEqual([]);
});

test("an undeliverable request ends a client's call, and a shared call is taken over", async () => {
  const ran: string[] = [];
  const sendRequest = async ({ executionResolved }: Call) => {
    if (executionResolved === "client") throw new Error("too large");
  };
  const scan = client({ sendRequest });
  const both = new MemoryPorts({
    tools: { both: runs(ran) },
    participants: { user: [announced("both")] },
    sendRequest,
  });

  expect((await scan.run("scan")).isError).toBe(true);
  expect(state(scan)).toEqual(["client_disconnected"]);
  expect((await both.run("both")).content).toBe("from the server");
});

test("a client that comes back within ten seconds gets the same request again", async () => {
  const ports = client();
  const answer = ports.run("scan");
  await settle();
  ports.signal("left");
  await vi.advanceTimersByTimeAsync(9_999);
  ports.signal("returned");
  await vi.advanceTimersByTimeAsync(10_000);
  ports.answer({ ok: 1 });

  expect((await answer).content).toBe('{"ok":1}');
  expect(new Set(ports.requests.map(({ id }) => id)).size).toBe(1);
  expect(ports.requests).toHaveLength(2);
});

test("a client that stays away ends its call after ten seconds", async () => {
  const ports = client();
  const answer = ports.run("scan");
  await settle();
  ports.signal("left");
  await vi.advanceTimersByTimeAsync(10_000);

  expect((await answer).isError).toBe(true);
  expect(state(ports)).toEqual(["client_disconnected"]);
});

test("a deadline that comes while the client is away wins", async () => {
  const ports = new MemoryPorts({ participants: { user: [announced("scan", { timeoutMs: 1_000 })] } });
  const answer = ports.run("scan");
  await settle();
  ports.signal("left");
  await vi.advanceTimersByTimeAsync(2_000);

  expect((await answer).content).toBe("Tool execution timed out after 1s");
});

const shared = (ran: string[], more: object = {}, participants: object = { user: undefined }) =>
  new MemoryPorts({ tools: { both: runs(ran, more) }, participants: participants as never });

test("a call that nobody claims within a second is taken over, and the client's result cannot win", async () => {
  const ran: string[] = [];
  const ports = shared(ran, {
    run: () => new Promise((resolve) => setTimeout(() => (ran.push("server"), resolve("server")), 50)),
  });
  const answer = ports.run("both");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ports.cancels).toMatchObject([{ reason: "superseded" }]);
  expect(ports.answer({ value: "client" })).toBe("late");
  await vi.advanceTimersByTimeAsync(50);

  expect((await answer).content).toBe("server");
  expect(ran).toEqual(["server"]);
});

test("a claimed call is the client's, for all of its time", async () => {
  const ran: string[] = [];
  const ports = shared(ran);
  const answer = ports.run("both");
  await vi.advanceTimersByTimeAsync(999);
  expect(ports.signal("claimed")).toBe(true);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(ports.answer({ value: "client" })).toBe("won");

  expect([(await answer).content, ran]).toEqual(["client", []]);
});

test("a declined call is the server's, immediately", async () => {
  const ran: string[] = [];
  const ports = shared(ran);
  const answer = ports.run("both");
  await settle();
  ports.signal("declined");

  expect([(await answer).content, ran]).toEqual(["from the server", ["server"]]);
});

test("a call that is declined and stopped at the same moment runs nowhere", async () => {
  const ran: string[] = [];
  const ports = shared(ran);
  const answer = ports.run("both");
  await settle();
  ports.signal("declined");
  ports.abort("stopped");

  expect((await answer).isError).toBe(true);
  await settle();
  expect([ran, ports.cancels.map(({ reason }) => reason)]).toEqual([[], ["interrupted"]]);
});

test.each([
  ["+1 h", 3_600_000],
  ["-1 h", -3_600_000],
])("a call that is taken over has the time that is left, although the clock jumped by %s", async (_, jump) => {
  const ports = shared([], { idempotent: true, timeoutMs: 15_000, run: () => new Promise(() => {}) });
  const answer = ports.run("both");
  await settle();
  ports.signal("claimed");
  ports.signal("left");
  vi.setSystemTime(Date.now() + jump);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ports.settled).toEqual([]);
  await vi.advanceTimersByTimeAsync(4_999);
  expect(ports.settled).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);

  expect((await answer).content).toBe("Tool execution timed out after 15s");
});

test("a call without any time left is not started by the server", async () => {
  const ran: string[] = [];
  const ports = shared(ran, { idempotent: true, timeoutMs: 500 });
  const answer = ports.run("both");
  await vi.advanceTimersByTimeAsync(1_000);

  expect([(await answer).content, ran]).toEqual(["Tool execution timed out after 0.5s", []]);
});

test.each([
  ["stays away", (ports: MemoryPorts) => void ports],
  [
    "returns and does not know the tool any more",
    (ports: MemoryPorts) => (ports.signal("returned"), ports.signal("declined")),
  ],
])("the server does not rerun a call that a client may have run, if the client left and %s", async (_, then) => {
  const ran: string[] = [];
  const ports = shared(ran, {}, { user: [announced("both")] });
  const answer = ports.run("both");
  await settle();
  ports.signal("left");
  then(ports);
  await vi.advanceTimersByTimeAsync(10_000);

  expect([(await answer).content, ran]).toEqual([
    "The participant left while the tool was running; its outcome is unknown",
    [],
  ]);
});

test("a client that left and, when asked again, says that it lacks the tool has the last word", async () => {
  const ran: string[] = [];
  const ports = shared(ran, {}, { user: [announced("both")] });
  const answer = ports.run("both");
  await settle();
  ports.signal("left");
  ports.signal("returned");
  ports.signal(failure("unknown_tool", "Not here"));

  expect([(await answer).content, state(ports), ran]).toEqual(["Not here", ["unknown_tool"], []]);
});

test("a lost second request does not make the server run a call that a client already has", async () => {
  const ran: string[] = [];
  const ports = new MemoryPorts({
    tools: { both: runs(ran) },
    participants: { user: [announced("both")] },
    sendRequest: (_call, count) => (count === 1 ? Promise.resolve() : Promise.reject(new Error("gone"))),
  });
  const answer = ports.run("both");
  await settle();
  ports.signal("returned");

  expect([(await answer).isError, ran]).toEqual([true, []]);
});

test.each([
  ["interrupted", "cancel", "interrupted", "cancelled"],
  ["stopped", "finish", "interrupted", "cancelled"],
  ["closed", "finish", "closed", "outcome_unknown"],
] as const)("a turn that is %s ends a call that would %s", async (...[kind, onInterrupt, reason, code]) => {
  const ports = new MemoryPorts({
    tools: { scan: serverTool("scan", { execution: "client", onInterrupt }) },
    participants: { user: undefined },
  });
  const answer = ports.run("scan");
  await settle();
  ports.abort(kind);

  expect(await answer).toMatchObject({ content: expect.stringContaining("its outcome is unknown"), isError: true });
  expect(state(ports)).toEqual([code]);
  expect(ports.cancels).toMatchObject([{ reason }]);
});

test.each(["finish", "block"] as const)(
  "an interruption lets a call that would %s keep running and reports its outcome later",
  async (onInterrupt) => {
    const ports = new MemoryPorts({
      tools: { scan: serverTool("scan", { execution: "client", onInterrupt }) },
      participants: { user: undefined },
    });
    const answer = ports.run("scan");
    await settle();
    ports.abort("interrupted");

    expect(await answer).toEqual({
      content: "Still running. Its outcome will be reported when it arrives.",
      isError: false,
    });
    expect(ports.answer({ booked: true })).toBe("won");
    await settle();
    expect(ports.lateOutcomes).toEqual([{ content: '{"booked":true}', isError: false }]);
  },
);

test("a turn that ends before the call is stored cancels it at once, and nothing runs", async () => {
  const ran: string[] = [];
  const stored = Promise.withResolvers<void>();
  const ports = new MemoryPorts({ tools: { both: runs(ran) }, durable: () => stored.promise });
  const answer = ports.run("both");
  ports.abort("interrupted");

  expect(await answer).toEqual({ content: "Cancelled before it was started", isError: true });
  stored.reject(new AppError("unavailable", "down"));
  await settle();
  expect(ran).toEqual([]);
});

test("a call that cannot be stored does not run and rejects", async () => {
  const ran: string[] = [];
  const lost = new AppError("unavailable", "down");
  const ports = new MemoryPorts({ tools: { both: runs(ran) }, durable: () => Promise.reject(lost) });

  await expect(ports.run("both")).rejects.toBe(lost);
  expect([ran, ports.ledger.openCount, ports.listenerCount]).toEqual([[], 0, 0]);
});

test("of a hundred simultaneous calls the first 64 run", async () => {
  const ran: number[] = [];
  const tool = serverTool("count", { run: (input) => void ran.push((input as { n: number }).n) });
  const ports = new MemoryPorts({ tools: { count: tool } });
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => ports.run("count", { n })));

  expect(ran).toEqual(Array.from({ length: 64 }, (_, n) => n));
  expect(answers.slice(64).every(({ isError, content }) => isError && content === "More than 64 calls are open")).toBe(
    true,
  );
});

test("a hundred calls on one signal leave no listener and cause no warning", async () => {
  const ports = new MemoryPorts({ tools: { add: serverTool("add", {}) } });
  for (let n = 0; n < 100; n++) await ports.run("add");

  expect(ports.listenerCount).toBe(0);
});

test("equal arguments in one turn have one idempotency key, whatever the order of their fields", async () => {
  const ports = new MemoryPorts({ tools: { add: serverTool("add", {}) } });
  await ports.run("add", { a: 1, b: { c: 1, d: 2 } });
  await ports.run("add", { b: { d: 2, c: 1 }, a: 1 });
  await ports.run("add", { a: 2 });

  const keys = ports.opened.map(({ idempotencyKey }) => idempotencyKey);
  expect(new Set(keys).size).toBe(2);
  expect(new Set(ports.opened.map(({ id }) => id)).size).toBe(3);
});

test("a refused use is on record as not run, which is not a cancel", () => {
  const ports = client();
  const use = { toolUseId: "t", toolName: "scan", input: {} };

  expect(new CallRunner(ports).refuse(use, ports.turn, { why: "Not run: cut off" })).toEqual({
    content: "Not run: cut off",
    isError: true,
  });
  expect(state(ports)).toEqual(["not_run"]);
});

test.each([
  ["stopped", "cancelled"],
  ["interrupted", "cancelled"],
  ["closed", "not_run"],
] as const)("a use that is refused because its turn was %s is %s", (kind, code) => {
  const ports = client();
  ports.abort(kind);

  new CallRunner(ports).refuse({ toolUseId: "t", toolName: "scan", input: {} }, ports.turn, {
    why: "Not run: cut off",
  });

  expect(state(ports)).toEqual([code]);
});

async function storedCall(ports: MemoryPorts, toolName: string): Promise<Call> {
  const answer = ports.run(toolName);
  await settle();
  const [open] = ports.ledger.openCalls();
  const call = open?.current as Call;
  ports.ledger.settle(call.id, { state: "success", result: {} });
  await answer;
  return call;
}
const resume = (ports: MemoryPorts, stored: Call) =>
  new CallRunner(ports).resume({ toolUseId: "toolu_1", toolName: stored.toolName, input: {} }, ports.turn, stored);

test("a client's call that an earlier worker left is requested again under its id, with the time that is left", async () => {
  const stored = await storedCall(client(), "scan");
  await vi.advanceTimersByTimeAsync(20_000);
  const ports = client();
  const answer = resume(ports, stored);
  await vi.advanceTimersByTimeAsync(10_999);
  expect([ports.requests.map(({ id }) => id), ports.settled]).toEqual([[stored.id], []]);
  await vi.advanceTimersByTimeAsync(1);

  expect((await answer).content).toBe("Tool execution timed out after 30s");
});

test("the side that runs a call is on record before it runs, and the next worker asks the same participant", async () => {
  const scan = announced("scan", { scope: "room" });
  const participants = { user: [], phone: [scan], laptop: [scan] };
  const tools = { add: serverTool("add", { run: () => void events.push("run") }) };
  const events: string[] = [];
  const ports = new MemoryPorts({
    participants,
    tools,
    durable: async () => {
      for (const { current } of ports.ledger.openCalls())
        events.push([current.state, current.executionResolved, current.addressee].filter(Boolean).join(" "));
    },
    sendRequest: async ({ addressee = "all" }) => void events.push(`asked ${addressee}`),
  });
  await ports.run("add");
  expect(events.splice(0)).toEqual(["running server", "asked all", "run"]);

  const stored = await storedCall(ports, "scan");
  expect(events).toEqual(["running client phone", "asked phone"]);
  const next = new MemoryPorts({ participants: { laptop: [scan], user: [scan] } });
  const answer = resume(next, stored);
  await settle();
  expect(next.requests.map(({ id, addressee }) => [id, addressee])).toEqual([[stored.id, "phone"]]);
  expect(next.answer({ pages: 1 }, "phone")).toBe("won");
  expect((await answer).isError).toBe(false);
});

test("a call that the server takes over from a client is on record as its own before it runs", async () => {
  const ran: string[] = [];
  const gone = new AppError("unavailable", "Gone");
  const ports = new MemoryPorts({
    tools: { both: runs(ran) },
    participants: { user: undefined },
    durable: async () => {
      const [open] = ports.ledger.openCalls();
      if (open?.current.executionResolved === "server") throw gone;
    },
  });
  const answer = ports.run("both");
  await settle();
  ports.signal("declined");

  await expect(answer).rejects.toBe(gone);
  expect(ran).toEqual([]);
});

test.each([
  [true, false, "Not run: a rule", 0],
  [true, true, "ok", 1],
  [false, true, "Not run: the worker stopped before the tool was started.", 0],
])(
  "a call that was stored and not started (idempotent: %s, allowed: %s) is checked like a new one, or not run",
  async (...row) => {
    const [idempotent, isAllowed, content, count] = row;
    const ran: string[] = [];
    const tools = { both: runs(ran, { execution: "server", idempotent, run: () => (ran.push("run"), "ok") }) };
    const before = new MemoryPorts({ tools, untilMayStart: () => new Promise(() => {}) });
    const stored = await storedCall(before, "both");
    expect(stored.state).toBe("pending");
    const ports = new MemoryPorts({
      tools,
      permit: () => (isAllowed ? { isAllowed } : { isAllowed, why: "a rule" }),
    });

    expect((await resume(ports, stored)).content).toBe(content);
    expect([ran.length, ports.settled.map(({ id }) => id)]).toEqual([count, [stored.id]]);
  },
);

test("a client cannot answer a call before it is asked", async () => {
  const ports = client({ untilMayStart: () => new Promise(() => {}) });
  const answer = ports.run("scan");
  await settle();
  expect([ports.answer({ pages: 1 }), ports.settled]).toEqual(["late", []]);
  ports.abort("stopped");
  await answer;
});

test.each([3_600_000, -3_600_000])(
  "a call that is resumed after the clock jumped by %i ms ends within its time",
  async (jump) => {
    const stored = await storedCall(client(), "scan");
    vi.setSystemTime(Date.now() + jump);
    const ports = client();
    const answer = resume(ports, stored);
    await vi.advanceTimersByTimeAsync(31_000);

    expect((await answer).content).toBe("Tool execution timed out after 30s");
  },
);

test("a stopped turn resumes no call", async () => {
  const ran: string[] = [];
  const tools = {
    both: runs(ran, { execution: "server", idempotent: true, run: () => (ran.push("run"), new Promise(() => {})) }),
  };
  const stored = await storedCall(new MemoryPorts({ tools }), "both");
  const ports = new MemoryPorts({ tools });
  ports.abort("stopped");

  expect((await resume(ports, stored)).isError).toBe(true);
  expect(ran).toEqual(["run"]);
});

test("a call that the server may have run is run again only if it is idempotent", async () => {
  for (const idempotent of [true, false]) {
    const ran: string[] = [];
    const tools = {
      both: runs(ran, {
        execution: "server",
        idempotent,
        run: () => (ran.push("run"), ran.length > 1 ? "again" : new Promise(() => {})),
      }),
    };
    const stored = await storedCall(new MemoryPorts({ tools }), "both");
    const answer = await resume(new MemoryPorts({ tools }), stored);

    expect([answer.content, ran.length]).toEqual(
      idempotent
        ? ["again", 2]
        : ["Outcome unknown: the worker stopped while the tool was running; the tool may have had effects.", 1],
    );
  }
});
