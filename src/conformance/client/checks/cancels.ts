import { isDeepStrictEqual } from "node:util";
import { createId } from "../../../lib/id.ts";
import { TOOL_TIMES } from "../../../protocol/limits.ts";
import type { MessageBody } from "../../../protocol/messages/messages.ts";
import { type Check, check as make, ensure } from "../../check.ts";
import type { Frame } from "../../wire/frame.ts";
import { type ClientTalk, numberOf } from "../client-talk.ts";

const check = make<ClientTalk>;
const CANCELLED = "| ToolUseCancel | abort the call; `success: false`, `cancelled`.";
const OVERTAKEN =
  "The worker sends the cancel after the request, but a long request may arrive after its cancel: do not run it then |";
const CLAIM =
  "`either`: claim it within 1000 ms by an Ack with `success: true`, or answer it by then. An Ack with `success: false`, or `unknown_tool`, declines it";

async function startSlow(talk: ClientTalk, execution: "client" | "either" = "client"): Promise<string> {
  const { id } = await talk.request({ toolName: "slow", parameters: { ms: 10_000 }, execution });
  await talk.program.next("run", (event) => event["id"] === id);
  return id;
}

const cancel = (talk: ClientTalk, id: string, reason: MessageBody<"tool_use_cancel">["reason"] = "interrupted") =>
  talk.send({ type: "tool_use_cancel", body: { id, reason } });

/** Calls that the worker cancels. */
export const cancelChecks: readonly Check<ClientTalk>[] = [
  check("cancel.aborts", ["MUST", CANCELLED], async (talk) => {
    talk.needs("tool_use_cancel");
    const id = await startSlow(talk);
    await cancel(talk, id);
    await talk.program.next("aborted", (event) => event["id"] === id);
  }),
  check("cancel.result", ["MUST", CANCELLED], async (talk) => {
    talk.needs("tool_use_cancel");
    const id = await startSlow(talk);
    await cancel(talk, id, "timeout");
    const { success, errorCode } = await talk.result(id);
    ensure(!success && errorCode === "cancelled", `success is ${success}, errorCode ${errorCode}`);
  }),
  check(
    "cancel.unknown-reason",
    ["MUST", "Treat an unknown reason as `closed`: the call is canceled anyway."],
    async (talk) => {
      talk.needs("tool_use_cancel");
      const id = await startSlow(talk);
      await talk.sendWrong(numberOf("tool_use_cancel"), { id, reason: "the weather" });
      const { errorCode } = await talk.result(id);
      ensure(errorCode === "cancelled", `errorCode is ${errorCode}`);
    },
  ),
  check("cancel.before-request", ["MUST", OVERTAKEN], async (talk) => {
    talk.needs("tool_use_cancel");
    const id = createId();
    await cancel(talk, id);
    await talk.request({ id, toolName: "echo" });
    await talk.settle();
    ensure(talk.runs(id) === 0, "The tool ran, although the cancel arrived before the request");
  }),
  check(
    "cancel.after-result",
    ["MUST", "the first terminal state wins, and a later one changes nothing."],
    async (talk) => {
      talk.needs("tool_use_cancel");
      const request = await talk.request({ toolName: "echo", parameters: { kept: true } });
      const result = await talk.result(request.id);
      await cancel(talk, request.id);
      await talk.request(request);
      await talk.settle();
      const again = talk.results(request.id).at(-1);
      ensure(isDeepStrictEqual(again, result), `A late cancel changed the result to ${again?.errorCode}`);
    },
  ),
  check("cancel.only-one", ["MUST", CANCELLED], async (talk) => {
    talk.needs("tool_use_cancel");
    const other = await talk.request({ toolName: "slow", parameters: { ms: 400 } });
    await cancel(talk, await startSlow(talk));
    const { success, errorCode } = await talk.result(other.id);
    ensure(success, `A call that was not cancelled failed with ${errorCode}`);
  }),
];

const isAckOf = (stanzaId: number) => (body: MessageBody<"acknowledgement">) =>
  Math.abs(body.acknowledgedStanzaId) === Math.abs(stanzaId);

/** Calls with `execution: "either"`, which the server can run as well. */
export const eitherChecks: readonly Check<ClientTalk>[] = [
  check("either.answered", ["MUST", "`either`: answer it before its deadline"], async (talk) => {
    const { id } = await talk.request({ toolName: "echo", execution: "either" });
    ensure((await talk.result(id)).success, "The result has success: false");
  }),
  check("either.claimed", ["MUST", CLAIM], async (talk) => {
    talk.needs("claims");
    const stanzaId = talk.nextStanza();
    await talk.request({ toolName: "slow", parameters: { ms: 1_500 }, execution: "either" }, { stanzaId });
    const { success } = await talk.next("acknowledgement", isAckOf(stanzaId));
    ensure(success, "The client declined the call, although it has the tool");
  }),
  check("either.in-time", ["MUST", CLAIM], async (talk) => {
    talk.needs("claims");
    const stanzaId = talk.nextStanza();
    const sentAt = performance.now();
    const request = { toolName: "slow", parameters: { ms: 1_500 }, execution: "either" } as const;
    const { id } = await talk.request(request, { stanzaId });
    const isAnswer = ({ message }: Frame) =>
      (message?.type === "acknowledgement" && isAckOf(stanzaId)(message.body)) ||
      (message?.type === "tool_use_result" && message.body.id === id);
    const { at } = await talk.frames.next((frames) => frames.find(isAnswer), "a claim");
    const ms = Math.round(at - sentAt);
    ensure(ms <= TOOL_TIMES.claimMs, `The claim arrived after ${ms} ms, when the server already runs the call`);
  }),
  check(
    "either.claimed-result",
    ["MUST", "with the feature `claims` an Ack to claim or decline; then a ToolUseResult."],
    async (talk) => {
      talk.needs("claims");
      const { id } = await talk.request({ toolName: "slow", parameters: { ms: 300 }, execution: "either" });
      await talk.result(id);
      await talk.settle();
      ensure(talk.results(id).length === 1, `The client sent ${talk.results(id).length} results`);
    },
  ),
  check("either.declined", ["MUST", CLAIM], async (talk) => {
    const stanzaId = talk.nextStanza();
    const { id } = await talk.request({ toolName: "no_such_tool", execution: "either" }, { stanzaId });
    const look = () =>
      talk.all("acknowledgement").find((body) => isAckOf(stanzaId)(body) && !body.success) ??
      talk.results(id).find(({ errorCode }) => errorCode === "unknown_tool");
    await talk.frames.next(look, "an Ack with success: false, or a result with unknown_tool,");
  }),
  check(
    "either.superseded",
    ["MUST", "when you decline it, or do not claim it: then you get ToolUseCancel with reason `superseded`"],
    async (talk) => {
      talk.needs("tool_use_cancel");
      const id = await startSlow(talk, "either");
      await cancel(talk, id, "superseded");
      await talk.program.next("aborted", (event) => event["id"] === id);
    },
  ),
];
