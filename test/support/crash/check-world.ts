import { isDeepStrictEqual } from "node:util";
import { outcomeSubject, toolUseId, type TurnBlock } from "../../../src/conversation/block.ts";
import { parentCallId, type Call } from "../../../src/conversation/call.ts";
import { setFields, type FieldChanges } from "../../../src/conversation/state/state-change.ts";
import { loadState } from "../../../src/store/sessions/session-state.ts";
import { loadSession } from "../../../src/store/sessions/sessions.ts";
import { loadCallsOfTurn } from "../../../src/store/calls.ts";
import { loadTurns } from "../../../src/store/turns/load-turns.ts";
import type { Sql } from "../../../src/store/database/pool.ts";
import { isReceipt } from "../../../src/tool/outcome.ts";
import { TOOLS, type CrashWorld, type ToolName } from "./crash-world.ts";

/** The promises that a world has broken, after its last worker had all the time it needed. */
export async function faultsOf(world: CrashWorld, sql: Sql): Promise<string[]> {
  const faults = new Set(world.verdicts.map((verdict) => `refused: ${verdict}`));
  const promise = (holds: boolean, what: string) => void (holds || faults.add(what));
  const session = await loadSession(sql, { conversationId: world.conversationId });
  const turns = session ? await loadTurns(sql, { sessionId: session.id }) : [];
  const calls = (await Promise.all(turns.map(({ id }) => loadCallsOfTurn(sql, { turnId: id })))).flat();

  for (const { state, blocks } of turns) {
    promise(state !== "running", "a turn never ended");
    promise(
      blocks.every(({ sequence }, index) => sequence === index),
      "sequences have a gap",
    );
    const uses = idsOf(blocks, "tool_use");
    promise(uses.join() === idsOf(blocks, "tool_result").join(), "stored uses and results differ");
    for (const call of calls) checkResult(call, blocks, promise);
  }
  // If a form is asked in words after its turn has ended, it is a separate answer, which refers to that turn's answer
  // and is not stored.
  for (const [messageId, previousId] of world.started)
    promise(
      turns.some((turn) => [messageId, previousId].includes(turn.messageId)),
      "an answer was begun and never given",
    );
  // Leaves out canceled calls. They are reported with the next message, which may never come.
  const blocks = turns.flatMap((turn) => turn.blocks);
  const promised = new Set(blocks.filter(({ content }) => isReceipt(content?.["content"])).map(toolUseId));
  for (const block of blocks) promised.delete(outcomeSubject(block));
  const unreported = calls.filter(({ toolUseId: id, state }) => promised.has(id) && state !== "cancelled");
  promise(unreported.length === 0, "a promised outcome was never told");
  const reported = turns.flatMap(({ blocks }) => blocks.flatMap(({ content }) => reportedToolUse(content?.["input"])));
  promise(new Set(reported).size === reported.length, "a promised outcome was told twice");
  for (const call of calls) checkCall(call, world, promise);
  if (session) await checkState(session.id, { calls, sql, promise });
  for (const call of calls) if (parentCallId(call) === undefined) checkForms(call, calls, promise);
  for (const { callId, toolName } of world.runs)
    promise(
      calls.some(({ id }) => id === callId),
      `${toolName} ran for a call that is not on record`,
    );
  return [...faults];
}

/** Checks that the state contains each call that has succeeded on the server, counted once, and no other call. */
async function checkState(
  sessionId: string,
  { calls, sql, promise }: { readonly calls: readonly Call[]; readonly sql: Sql; readonly promise: Promise_ },
): Promise<void> {
  const { state = {}, version } = await loadState(sql, { sessionId });
  const { last: _, ...counted } = state;
  const succeeded = calls.filter(
    (call) => call.state === "success" && call.executionResolved === "server" && parentCallId(call) === undefined,
  );
  promise(
    isDeepStrictEqual(counted, Object.fromEntries(succeeded.map(({ id }) => [id, 1]))),
    `the state has ${JSON.stringify(counted)}, and ${succeeded.map(({ id, toolName }) => `${toolName} ${id}`).join()} succeeded`,
  );
  const changes = await sql<{ version: number; call_id: string; fields: FieldChanges }[]>`
    select version, call_id, fields from state_changes where session_id = ${sessionId} order by version
  `;
  promise(
    changes.map((change) => change.version).join() === Array.from({ length: version }, (_each, n) => n + 1).join(),
    "a change of the state is missing",
  );
  const result = changes.reduce((before, { fields }) => setFields(before, fields, "after"), {});
  promise(isDeepStrictEqual(result, state), "the changes do not lead to the state");
}

type Promise_ = (holds: boolean, what: string) => void;

function checkCall(call: Call, world: CrashWorld, promise: Promise_): void {
  const { id, toolName: name, state, input, outcome } = call;
  const { isIdempotent, needs } = TOOLS[name as ToolName] ?? { isIdempotent: true, needs: "nothing" };
  const runs = world.runs.filter(({ callId }) => callId === id);
  const executors = new Set(runs.map(({ by }) => by));
  promise(state !== "pending" && state !== "running", `${name}: a call never ended`);
  promise(isIdempotent || runs.length <= 1, `${name}: ran ${runs.length} times`);
  promise(isIdempotent || executors.size <= 1, `${name}: ran in two places`);
  const asked = new Set(world.asked.filter(({ callId }) => callId === id).map(({ identity }) => identity));
  promise(isIdempotent || asked.size <= 1, `${name}: two participants were asked`);
  promise(
    isIdempotent || asked.size === 0 || !executors.has("server") || executors.size === 1,
    `${name}: client and server`,
  );
  promise(needs !== "a miracle" || runs.length === 0, `${name}: ran though a rule denies it`);
  promise(needs !== "leave" || runs.every(({ wasAllowed }) => wasAllowed), `${name}: ran before it was allowed`);
  promise(typeof input["n"] === "number" || runs.length === 0, `${name}: ran with arguments that are none`);
  const isNews = outcome !== undefined && "errorCode" in outcome && outcome.errorCode === "not_run";
  promise(!isNews || runs.length === 0, `${name}: said not to have run, and has`);
}

/** Checks that the tool received what the person filled in, and that nobody was shown the same form twice. */
function checkForms({ id, toolName: name, outcome }: Call, calls: readonly Call[], promise: Promise_): void {
  const forms = calls.filter((form) => parentCallId(form) === id);
  const shown = forms.filter(({ executionResolved }) => executionResolved === "client");
  promise(shown.length <= 1, `${name}: its form was shown as ${shown.length} forms`);
  const given = outcome?.state === "success" ? outcome.result["content"] : undefined;
  const answers = forms.map((form) => (form.outcome?.state === "success" ? form.outcome.result["content"] : undefined));
  promise(
    given === undefined || answers.some((answer) => isDeepStrictEqual(answer, given)),
    `${name}: its form's answer was lost`,
  );
}

/**
 * Checks that the model was told what is on record about a call. The exception is a read-only tool that had started
 * before the model's reply was cut off: the model is told that the tool's result was discarded.
 */
function checkResult(call: Call, blocks: readonly TurnBlock[], promise: Promise_): void {
  const result = blocks.find((block) => block.blockType === "tool_result" && toolUseId(block) === call.toolUseId);
  const content = result?.content?.["content"];
  if (typeof content !== "string" || call.state !== "success" || call.isBackground) return;
  const isDiscarded = call.toolName === "look" && content.startsWith("Result discarded: the reply ");
  promise(isDiscarded || content.includes(call.id), `${call.toolName}: its result was lost: ${content}`);
}

function idsOf(blocks: readonly TurnBlock[], type: string): (string | undefined)[] {
  return blocks.filter(({ blockType }) => blockType === type).map(toolUseId);
}

function reportedToolUse(input: unknown): string[] {
  const id = input !== null && typeof input === "object" && "tool_use_id" in input ? input.tool_use_id : undefined;
  return typeof id === "string" ? [id] : [];
}
