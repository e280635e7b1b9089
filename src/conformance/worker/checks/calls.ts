import { TOOL_TIMES } from "../../../protocol/limits.ts";
import { type Check, check as make, ensure, NotApplicable } from "../../check.ts";
import { withTools } from "../kit-client.ts";
import { anyInput } from "../kit-client.ts";
import type { WorkerTalk } from "../worker-talk.ts";

const check = make<WorkerTalk>;
const REFUSED =
  "A call that is refused before anybody runs it is shown to everyone, like a call that the server runs: as a request with `execution` `server`, then its result with `unknown_tool`, `invalid_parameters`,";

/**
 * Makes the worker request a call and leaves it unanswered. @returns the milliseconds from the request to the call's
 * end
 */
async function waitedFor(talk: WorkerTalk): Promise<number> {
  const { id } = await talk.call("kit_late");
  const askedAt = performance.now();
  const { status, error } = await talk.ended(id);
  ensure(status === "error", `An unanswered call ended as ${status}: ${error}`);
  return Math.round(performance.now() - askedAt);
}

/** Calls of tools that the kit's client offers. */
export const workerCallChecks: readonly Check<WorkerTalk>[] = [
  check("call.asked", ["MUST", "A call goes to the device of the participant whose turn it is."], async (talk) => {
    const { id, execution, parameters } = await talk.call("kit_echo", { text: "a", n: 1 });
    ensure(execution === "client", `The request has execution ${execution}`);
    ensure(
      JSON.stringify(parameters) === '{"text":"a","n":1}',
      `The request's parameters are ${JSON.stringify(parameters)}`,
    );
    await talk.client.answer(id, { success: true, result: { text: "a" } });
    const { status } = await talk.ended(id);
    ensure(status === "success", `The call ended as ${status}`);
  }),
  check(
    "call.answer-goes-on",
    [
      "MUST",
      "A turn: UserMessage or a final Transcription → StartAnswer → AssistantSentence…, with ToolUseRequest and ToolUseResult between them → AssistantSentence with `isFinal: true`.",
    ],
    async (talk) => {
      const { id, messageId } = await talk.call("kit_echo", { text: "b" });
      await talk.client.answer(id, { success: true, result: { text: "b" } });
      await talk.client.next("assistant_sentence", (body) => body.previousId === messageId && body.isFinal);
    },
  ),
  check(
    "call.timeout-announced",
    ["MUST", "| `timeoutMs` | integer | no | How long it may run, in ms. Absent or 0: 30000. |"],
    async (talk) => {
      const { id, timeoutMs } = await talk.call("kit_late");
      await talk.client.answer(id, { success: true });
      ensure(timeoutMs === 300, `The tool was announced with timeoutMs 300, but the request has ${timeoutMs}`);
    },
  ),
  check(
    "call.deadline",
    [
      "MUST",
      "The worker's own deadline is `timeoutMs` + 1000 ms after it sent the request; then it creates the timeout result itself.",
    ],
    async (talk) => {
      // A lost packet may delay the request and make the wait seem short, so a short wait is measured again.
      let ms = await waitedFor(talk);
      for (let again = 0; ms < 300 && again < 2; again++) ms = await waitedFor(talk);
      ensure(ms >= 300 && ms <= 300 + TOOL_TIMES.graceMs + 1_000, `The call ended after ${ms} ms`);
    },
  ),
  check(
    "call.cancel-after-deadline",
    ["MUST", "Needs the feature `tool_use_cancel`. Stop the call: its result no longer counts."],
    async (talk) => {
      const { id } = await talk.call("kit_late");
      const cancel = await talk.client.next("tool_use_cancel", (body) => body.id === id);
      ensure(cancel.reason === "timeout", `The cancel has the reason ${cancel.reason}`);
    },
  ),
  check(
    "call.late-result",
    ["MUST", "the first terminal state wins, and a later one changes nothing."],
    async (talk) => {
      const { id } = await talk.call("kit_late");
      await talk.ended(id);
      await talk.client.acknowledged(await talk.client.answer(id, { success: true, result: { late: true } }));
      await talk.client.settle();
      const states = talk.client.all("tool_call_state").filter((state) => state.id === id);
      ensure(states.at(-1)?.status === "error", `A late result changed the call's status to ${states.at(-1)?.status}`);
    },
  ),
  check(
    "call.second-result",
    [
      "MUST",
      "The worker accepts a result only from the addressee, and only once: a later result is recorded and changes nothing.",
    ],
    async (talk) => {
      const { id } = await talk.call("kit_echo");
      await talk.client.answer(id, { success: true, result: { first: true } });
      await talk.client.acknowledged(await talk.client.answer(id, { success: true, result: { second: true } }));
      await talk.client.settle();
      const { output } = await talk.ended(id);
      ensure(output?.includes("first") === true, `The call has the output ${output}`);
    },
  ),
  check("call.wrapped", ["MUST", 'Anything that is not a map is wrapped as `{"value": …}`;'], async (talk) => {
    const { id } = await talk.call("kit_echo");
    await talk.client.sendWrong({ type: 7, body: { id, success: true, result: "only text" } });
    const { status, output } = await talk.ended(id);
    ensure(
      status === "success" && output?.includes("only text") === true,
      `The call ended as ${status} with the output ${output}`,
    );
  }),
  check(
    "call.by-request-id",
    ["MUST", "The same as `id`, for clients that match results by it. When received, it takes precedence over `id`."],
    async (talk) => {
      const { id } = await talk.call("kit_echo");
      await talk.client.sendWrong({
        type: 7,
        body: { id: "a_result's_own", requestId: id, success: true, result: {} },
      });
      ensure((await talk.ended(id)).status === "success", "The worker did not accept the result");
    },
  ),
  check(
    "call.failure",
    ["MUST", "A failed *tool* is never an ErrorMessage: it is a ToolUseResult with `success: false`."],
    async (talk) => {
      const { id } = await talk.call("kit_echo");
      await talk.client.answer(id, { success: false, errorCode: "execution_error", errorMessage: "no paper" });
      const { status } = await talk.ended(id);
      ensure(status === "error", `The call ended as ${status}`);
    },
  ),
  check(
    "call.protocol-error",
    ["MUST", "An ErrorMessage whose `originatingId` is an open tool request settles that call as `protocol_error`."],
    async (talk) => {
      const { id } = await talk.call("kit_echo");
      const body = {
        id: "err_1",
        code: 101,
        message: "Told by the kit",
        severity: 2,
        recoverable: true,
        originatingId: id,
      } as const;
      await talk.client.send({ type: "error_message", body });
      ensure((await talk.ended(id)).status === "error", "The ErrorMessage did not end the call");
    },
  ),
  check("call.checked-input", ["MUST", "The tool's input, already checked against its schema."], async (talk) => {
    const request = await talk.call("kit_number", { n: "no number" });
    ensure(request.execution === "server", "The client got a request whose parameters do not match its schema");
  }),
  check("call.refused-is-shown", ["MUST", REFUSED], async (talk) => {
    const { id } = await talk.call("kit_number", { n: "no number" });
    const { errorCode } = await talk.client.next("tool_use_result", (body) => body.id === id);
    ensure(errorCode === "invalid_parameters", `The result has the errorCode ${errorCode}`);
  }),
  check("call.states", ["MUST", "A call's states arrive in order;"], async (talk) => {
    const { id } = await talk.call("kit_echo");
    await talk.client.answer(id, { success: true });
    await talk.ended(id);
    const states = talk.client.all("tool_call_state").filter((state) => state.id === id);
    const statuses = states.map(({ status }) => status).filter((status, index, all) => status !== all[index - 1]);
    const inOrder = ["pending", "running", "success"].filter((status) => statuses.some((each) => each === status));
    ensure(statuses.join() === inOrder.join(), `The states were ${statuses.join(", ")}`);
  }),
  check("call.stopped", ["MUST", "ControlStop cancels every open call of the turn."], async (talk) => {
    const { id } = await talk.call("kit_echo");
    await talk.client.send({ type: "control_stop", body: { stopType: "all" } });
    await talk.client.next("tool_use_cancel", (body) => body.id === id);
    ensure((await talk.ended(id)).status === "cancelled", "The call was not cancelled");
  }),
  check(
    "call.cancelled",
    [
      "MUST",
      "If `targetId` is a call's id, only that call ends, as `cancelled`, whoever runs it and whatever `stopType` is.",
    ],
    async (talk) => {
      const { id, messageId } = await talk.call("kit_echo");
      await talk.client.send({ type: "control_stop", body: { targetId: id } });
      await talk.client.next("tool_use_cancel", (body) => body.id === id);
      ensure((await talk.ended(id)).status === "cancelled", "The call was not cancelled");
      await talk.client.next("assistant_sentence", (body) => body.previousId === messageId && body.isFinal);
    },
  ),
  check("call.server-shown", ["SHOULD", "`server`: none."], async (talk) => {
    const isIts = ({ name }: { readonly name: string }) => name === "calculator";
    if (!talk.client.all("configuration").some(({ tools = [] }) => tools.some(isIts))) {
      throw new NotApplicable("The worker has no tool named calculator");
    }
    const { id, execution } = await talk.call("calculator", { expression: "21 * 2" });
    ensure(execution === "server", `The request has execution ${execution}`);
    await talk.client.next("tool_use_result", (body) => body.id === id);
  }),
];

/** Two clients in one room. */
export const otherClientChecks: readonly Check<WorkerTalk>[] = [
  check("other.cannot-answer", ["MUST", "Only the addressee of a request can answer it."], async (talk) => {
    const other = await talk.join("bob");
    await other.configure(withTools());
    const { id } = await talk.call("kit_echo");
    await other.acknowledged(await other.answer(id, { success: true, result: { by: "bob" } }));
    await talk.client.answer(id, { success: true, result: { by: "alice" } });
    const { output } = await talk.ended(id);
    ensure(output?.includes("alice") === true, `The call has the output ${output}`);
  }),
  check("other.is-not-asked", ["MUST", "In whose turns the model may use it. `own`: in its owner's."], async (talk) => {
    const other = await talk.join("carol");
    await other.configure(withTools({ name: "kit_of_carol", description: "Only hers.", inputSchema: anyInput }));
    await talk.client.answered(await talk.client.say("use kit_of_carol {}"));
    const asked = other.all("tool_use_request").some(({ execution }) => execution !== "server");
    ensure(
      !asked,
      "A device got a request in another participant's turn, for a tool that it announced for its owner only",
    );
  }),
  check("other.room-tool", ["MUST", "the call goes to a device that announced it for the `room`."], async (talk) => {
    const other = await talk.join("dave");
    const tool = { name: "kit_for_all", description: "For everybody.", inputSchema: anyInput, scope: "room" } as const;
    await other.configure(withTools(tool));
    await talk.client.say("use kit_for_all {}");
    const request = await other.next("tool_use_request", ({ toolName }) => toolName === "kit_for_all", 10_000);
    await other.answer(request.id, { success: true });
    ensure(request.participant === "alice", `The request names ${request.participant} as the turn's participant`);
  }),
];
