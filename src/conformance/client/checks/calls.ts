import { isDeepStrictEqual } from "node:util";
import { LIMITS, TOOL_TIMES } from "../../../protocol/limits.ts";
import { type Check, check as make, ensure } from "../../check.ts";
import { type ClientTalk, numberOf } from "../client-talk.ts";

const check = make<ClientTalk>;
const VALUE = { text: "Grüße ☕", list: [1, 2.5, -3, true], map: { empty: {}, none: [] } };
const EXACTLY_ONE = "`client`: exactly one ToolUseResult.";
const TIMES_OUT =
  '| `timeoutMs` passes | abort it; `success: false`, `timeout`, "Tool execution exceeded timeout of {timeoutMs}ms" |';

/** Requests that a client accepts. */
export const callChecks: readonly Check<ClientTalk>[] = [
  check("call.answered", ["MUST", EXACTLY_ONE], async (talk) => {
    const { id } = await talk.request({ toolName: "echo", parameters: VALUE });
    await talk.result(id);
    await talk.settle();
    ensure(talk.results(id).length === 1, `The client sent ${talk.results(id).length} results`);
  }),
  check("call.result", ["MUST", "| `result` | map | no | The tool's answer."], async (talk) => {
    const { id } = await talk.request({ toolName: "echo", parameters: VALUE });
    const { success, result } = await talk.result(id);
    ensure(success, "The result of echo has success: false");
    ensure(
      isDeepStrictEqual(result, VALUE),
      `echo was called with ${JSON.stringify(VALUE)}, but returned ${JSON.stringify(result)}`,
    );
  }),
  check(
    "call.odd-keys",
    ["MUST", "The keys `__proto__`, `constructor` and `prototype` are keys like any other."],
    async (talk) => {
      const odd = { text: "a", map: { constructor: "Ferrari", prototype: [{ constructor: 1 }] } };
      const { id } = await talk.request({ toolName: "echo", parameters: odd });
      const { result } = await talk.result(id);
      ensure(
        isDeepStrictEqual(result, odd),
        `echo was called with ${JSON.stringify(odd)}, but returned ${JSON.stringify(result)}`,
      );
    },
  ),
  check("call.result-id", ["MUST", "| `id` | text | yes | The **request's** id. |"], async (talk) => {
    const { id } = await talk.request({ toolName: "echo" });
    await talk.result(id);
    const isResult = ({ message }: (typeof talk.frames.items)[number]) =>
      message?.type === "tool_use_result" && message.body.id === id;
    const body = talk.frames.items.find(isResult)?.rawBody ?? {};
    ensure(body["id"] === id, `The result's id is ${JSON.stringify(body["id"])}`);
    ensure((body["requestId"] ?? id) === id, `The result's requestId is ${JSON.stringify(body["requestId"])}`);
  }),
  check("call.server-shown", ["MUST", "| `execution` is `server` | nothing: show it if you like |"], async (talk) => {
    const { id } = await talk.request({ toolName: "echo", execution: "server" });
    await talk.settle();
    ensure(talk.runs(id) === 0, "The client ran a call with execution server");
    ensure(talk.results(id).length === 0, "The client answered a call with execution server");
  }),
  check(
    "call.participant",
    ["MUST", "The identity of the participant whose turn it is; absent if that is the addressee."],
    async (talk) => {
      const { id } = await talk.request({ toolName: "echo", participant: "somebody-else" });
      ensure((await talk.result(id)).success, "A call from another participant's turn failed");
    },
  ),
  check("call.many", ["MUST", "| open calls of a session | 64 |"], async (talk) => {
    const requests = [];
    for (let index = 0; index < LIMITS.openCalls; index++) {
      requests.push(await talk.request({ toolName: "slow", parameters: { ms: 200 + (index % 4) * 50 } }));
    }
    const results = await Promise.all(requests.map(({ id }) => talk.result(id, 15_000)));
    const failed = results.find(({ success }) => !success);
    ensure(!failed, `One of ${LIMITS.openCalls} concurrent calls failed: ${failed?.errorCode} ${failed?.errorMessage}`);
  }),
  check("call.fails", ["MUST", "| the tool fails | `success: false`, `execution_error`, and why |"], async (talk) => {
    const { id } = await talk.request({ toolName: "fail", parameters: { message: "no paper" } });
    const { success, errorCode, errorMessage } = await talk.result(id);
    ensure(!success && errorCode === "execution_error", `success is ${success}, errorCode ${errorCode}`);
    ensure(
      errorMessage?.includes("no paper") === true,
      `The tool threw "no paper", but the result says "${errorMessage}"`,
    );
  }),
  check(
    "call.progress",
    ["SHOULD", "Needs the feature `tool_use_progress`. It does not extend the deadline."],
    async (talk) => {
      talk.needs("tool_use_progress");
      const { id } = await talk.request({ toolName: "report" });
      await talk.result(id);
      const progress = talk.all("tool_use_progress").filter((body) => body.id === id);
      ensure(
        progress.some(({ log }) => log?.includes("half way") === true),
        "The tool's log line did not arrive",
      );
      ensure(
        progress.some((body) => body.progress === 0.5),
        "The tool's progress of 0.5 did not arrive",
      );
    },
  ),
];

/** Timeouts of calls. */
export const timeoutChecks: readonly Check<ClientTalk>[] = [
  check("timeout.code", ["MUST", TIMES_OUT], async (talk) => {
    const { id } = await talk.request({ toolName: "slow", parameters: { ms: 10_000 }, timeoutMs: 200 });
    const { success, errorCode } = await talk.result(id);
    ensure(!success && errorCode === "timeout", `success is ${success}, errorCode ${errorCode}`);
  }),
  check("timeout.text", ["MUST", TIMES_OUT], async (talk) => {
    const { id } = await talk.request({ toolName: "slow", parameters: { ms: 10_000 }, timeoutMs: 201 });
    const { errorMessage } = await talk.result(id);
    ensure(errorMessage === "Tool execution exceeded timeout of 201ms", `The errorMessage is "${errorMessage}"`);
  }),
  check("timeout.aborts", ["MUST", TIMES_OUT], async (talk) => {
    const { id } = await talk.request({ toolName: "slow", parameters: { ms: 10_000 }, timeoutMs: 200 });
    await talk.program.next("aborted", (event) => event["id"] === id);
  }),
  check(
    "timeout.in-time",
    [
      "MUST",
      "The worker's own deadline is `timeoutMs` + 1000 ms after it sent the request; then it creates the timeout result itself.",
    ],
    async (talk) => {
      const sentAt = performance.now();
      const { id } = await talk.request({ toolName: "slow", parameters: { ms: 10_000 }, timeoutMs: 300 });
      await talk.result(id);
      const ms = Math.round(performance.now() - sentAt);
      ensure(ms <= 300 + TOOL_TIMES.graceMs, `The result arrived after ${ms} ms, too late for the worker`);
    },
  ),
  check("timeout.not-early", ["MUST", "| `timeoutMs` | integer | no | How long it may run, in ms."], async (talk) => {
    const { id } = await talk.request({ toolName: "slow", parameters: { ms: 300 }, timeoutMs: 2_000 });
    const { success, errorCode } = await talk.result(id);
    ensure(success, `A call that took 300 ms and had a timeoutMs of 2000 failed with ${errorCode}`);
  }),
  check("timeout.zero", ["MUST", "How long it may run, in ms. Absent or 0: 30000. |"], async (talk) => {
    const { id } = await talk.request({ toolName: "slow", parameters: { ms: 200 }, timeoutMs: 0 });
    const { success, errorCode } = await talk.result(id);
    ensure(success, `A call that took 200 ms failed with ${errorCode}, although a timeoutMs of 0 means 30000`);
  }),
  check("timeout.clamped", ["MUST", "| `timeoutMs` | 600000; above it is clamped |"], async (talk) => {
    // Many languages limit the delay of timers, and some fire a timer immediately if its delay exceeds the limit.
    const { id } = await talk.request({ toolName: "slow", parameters: { ms: 200 }, timeoutMs: 2 ** 40 });
    const { success, errorCode } = await talk.result(id);
    ensure(success, `A call that took 200 ms and had a timeoutMs of 2^40 failed with ${errorCode}`);
  }),
];

/** A request that is sent again. */
export const repeatChecks: readonly Check<ClientTalk>[] = [
  check(
    "repeat.same-result",
    ["MUST", "| the same request id again | the stored result again; do not run it twice |"],
    async (talk) => {
      const request = await talk.request({ toolName: "echo", parameters: VALUE });
      await talk.result(request.id);
      await talk.request(request);
      await talk.settle();
      const results = talk.results(request.id);
      ensure(results.length === 2, `The client got the request twice, but sent ${results.length} results`);
      ensure(isDeepStrictEqual(results[0], results[1]), "The second result differs from the first");
    },
  ),
  check(
    "repeat.not-run",
    ["MUST", "| the same request id again | the stored result again; do not run it twice |"],
    async (talk) => {
      const request = await talk.request({ toolName: "echo" });
      await talk.result(request.id);
      await talk.request(request);
      await talk.settle();
      ensure(talk.runs(request.id) === 1, `The tool ran ${talk.runs(request.id)} times`);
    },
  ),
  check(
    "repeat.while-running",
    ["MUST", "| the same request id again | the stored result again; do not run it twice |"],
    async (talk) => {
      const request = await talk.request({ toolName: "slow", parameters: { ms: 500 } });
      await talk.program.next("run", (event) => event["id"] === request.id);
      await talk.request(request);
      await talk.result(request.id);
      await talk.settle();
      ensure(talk.runs(request.id) === 1, `The tool ran ${talk.runs(request.id)} times`);
    },
  ),
  check(
    "repeat.same-stanza",
    ["MUST", "Skip a stanzaId that you have seen, unless it is a request's: answer a request again."],
    async (talk) => {
      const stanzaId = talk.nextStanza();
      const request = await talk.request({ toolName: "echo" }, { stanzaId });
      await talk.result(request.id);
      await talk.request(request, { stanzaId });
      await talk.settle();
      const { length } = talk.results(request.id);
      ensure(length === 2, `The client got the request twice with one stanzaId, but sent ${length} results`);
    },
  ),
  check(
    "repeat.failure",
    ["MUST", "| the same request id again | the stored result again; do not run it twice |"],
    async (talk) => {
      const request = await talk.request({ toolName: "fail", parameters: { message: "no ink" } });
      await talk.result(request.id);
      await talk.request(request);
      await talk.settle();
      ensure(talk.runs(request.id) === 1, `The failed tool ran ${talk.runs(request.id)} times`);
      ensure(talk.results(request.id).length === 2, `The client sent ${talk.results(request.id).length} results`);
    },
  ),
  check(
    "error.never-answered",
    ["MUST", "both ways · answer: Ack when a client sends it; never another ErrorMessage."],
    async (talk) => {
      const before = talk.all("error_message").length;
      await talk.send({
        type: "error_message",
        body: { id: "err_1", code: 501, message: "Told by the kit", severity: 2, recoverable: true },
      });
      await talk.sendWrong(numberOf("error_message"), { id: "err_2", code: "none" });
      await talk.settle();
      ensure(talk.all("error_message").length === before, "The client answered an ErrorMessage with another one");
    },
  ),
];
