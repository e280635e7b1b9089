import { createId } from "../../../lib/id.ts";
import { type Check, check as make, ensure } from "../../check.ts";
import { type ClientTalk, numberOf } from "../client-talk.ts";

const check = make<ClientTalk>;
const REQUEST = numberOf("tool_use_request");
const NO_EXECUTION =
  "| `execution` missing or unknown, whatever else is wrong | ErrorMessage 101 with `originatingId`; run nothing |";
const NO_TOOL =
  "| you do not have the tool, or its name is not valid | `success: false`, `unknown_tool`, \"Tool 'toolName' is not supported by this client\" |";
const WRONG_FIELD =
  "| the parameters, `timeoutMs` or `messageId` are wrong | `success: false`, `invalid_parameters`, and which one |";
const NO_ID = "| there is no `id`, so no result can refer to the request | ErrorMessage 101; run nothing |";

/** Sends a valid request for `echo` with the given fields changed. A field that is `undefined` is omitted. */
async function sendRequest(talk: ClientTalk, fields: object): Promise<string> {
  const id = createId();
  const body = { id, messageId: "msg_a1", toolName: "echo", parameters: {}, execution: "client", ...fields };
  await talk.sendWrong(REQUEST, body);
  return id;
}

async function ensureMalformed(talk: ClientTalk, fields: object): Promise<void> {
  const id = await sendRequest(talk, fields);
  await talk.next("error_message", ({ code, originatingId }) => code === 101 && originatingId === id);
  await talk.settle();
  ensure(talk.runs(id) === 0, "The tool ran");
  ensure(talk.results(id).length === 0, "The client also sent a result for the request");
}

async function ensureRefused(talk: ClientTalk, fields: object, expected: string): Promise<void> {
  const id = await sendRequest(talk, fields);
  const { success, errorCode } = await talk.result(id);
  ensure(!success && errorCode === expected, `success is ${success}, errorCode ${errorCode}`);
  ensure(talk.runs(id) === 0, "The tool ran");
}

/** Requests that a client must not run. */
export const refusalChecks: readonly Check<ClientTalk>[] = [
  check("refuse.no-execution", ["MUST", NO_EXECUTION], (talk) => ensureMalformed(talk, { execution: undefined })),
  check("refuse.unknown-execution", ["MUST", NO_EXECUTION], (talk) => ensureMalformed(talk, { execution: "sideways" })),
  check("refuse.execution-first", ["MUST", NO_EXECUTION], (talk) =>
    ensureMalformed(talk, { execution: 7, toolName: "no such tool", parameters: [] }),
  ),
  check("refuse.no-id", ["MUST", NO_ID], async (talk) => {
    // Wait for the reports of earlier runs: the program's output is separate from the client's messages, and may arrive
    // later.
    await talk.settle();
    const before = talk.all("error_message").length;
    const ranBefore = talk.program.all("run").length;
    await sendRequest(talk, { id: undefined });
    await talk.frames.next(
      () =>
        talk
          .all("error_message")
          .slice(before)
          .find(({ code }) => code === 101),
      "an ErrorMessage 101",
    );
    await talk.settle();
    ensure(talk.program.all("run").length === ranBefore + 1, "The tool ran");
  }),
  check("refuse.unknown-tool", ["MUST", NO_TOOL], (talk) =>
    ensureRefused(talk, { toolName: "no_such_tool" }, "unknown_tool"),
  ),
  check("refuse.unknown-tool-text", ["MUST", NO_TOOL], async (talk) => {
    const id = await sendRequest(talk, { toolName: "no_such_tool" });
    const { errorMessage } = await talk.result(id);
    ensure(
      errorMessage === "Tool 'no_such_tool' is not supported by this client",
      `The errorMessage is "${errorMessage}"`,
    );
  }),
  check("refuse.tool-name", ["MUST", NO_TOOL], (talk) =>
    ensureRefused(talk, { toolName: "not a valid name!" }, "unknown_tool"),
  ),
  check("refuse.parameters", ["MUST", WRONG_FIELD], (talk) =>
    ensureRefused(talk, { parameters: ["a"] }, "invalid_parameters"),
  ),
  check(
    "refuse.no-parameters",
    ["MUST", "The tool's input, already checked against its schema. Absent: answer `invalid_parameters`."],
    (talk) => ensureRefused(talk, { parameters: undefined }, "invalid_parameters"),
  ),
  check("refuse.input", ["MUST", WRONG_FIELD], (talk) =>
    ensureRefused(talk, { toolName: "slow", parameters: { ms: "long" } }, "invalid_parameters"),
  ),
  check("refuse.negative-timeout", ["MUST", WRONG_FIELD], (talk) =>
    ensureRefused(talk, { timeoutMs: -5 }, "invalid_parameters"),
  ),
  check("refuse.timeout-text", ["MUST", WRONG_FIELD], (talk) =>
    ensureRefused(talk, { timeoutMs: "soon" }, "invalid_parameters"),
  ),
  check("refuse.message-id", ["MUST", WRONG_FIELD], (talk) =>
    ensureRefused(talk, { messageId: undefined }, "invalid_parameters"),
  ),
  check("refuse.names-field", ["SHOULD", WRONG_FIELD], async (talk) => {
    const id = await sendRequest(talk, { timeoutMs: -5 });
    const { errorMessage } = await talk.result(id);
    ensure(
      errorMessage?.includes("timeoutMs") === true,
      `The invalid field is timeoutMs, but the result says "${errorMessage}"`,
    );
  }),
  check("refuse.server", ["MUST", "| `execution` is `server` | nothing: show it if you like |"], async (talk) => {
    const before = talk.all("error_message").length;
    const id = await sendRequest(talk, { execution: "server", parameters: undefined, toolName: "no_such_tool" });
    await talk.settle();
    ensure(talk.results(id).length === 0, "The client answered a call with execution server");
    ensure(talk.all("error_message").length === before, "The client sent an ErrorMessage about the call");
  }),
];
