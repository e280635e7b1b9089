import { beforeAll, expect, test } from "vitest";
import { guardedTool } from "../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";
import { toolResults } from "../support/model-view.ts";

/**
 * What participants say aloud, no matter what a test is about. Each test sets the text that the recognizer returns for
 * it.
 */
const SOUND = "What time is it?";

beforeAll(() => warmUp(SOUND));

/** Starts a call in which a caller has asked for something that needs permission. */
async function call({ byVoice }: { readonly byVoice: boolean }) {
  const { tool, ran } = guardedTool();
  const policy = { permission: { rules: [], byVoice, waitMs: 60_000 } };
  const voice = await VoiceAgent.start({ tools: { write: tool }, policy });
  const caller = await voice.caller("caller");
  // Each reply depends on its request, not on the order of the requests, because a model call that was made too early
  // is dropped.
  voice.agent.model.script(({ body }) =>
    JSON.stringify(body["messages"]).includes("tool_result")
      ? reply([text("So be it.")])
      : reply([toolUse("write", { path: "notes/a.md" })]),
  );
  voice.understand("Write it down, please.");
  const { to } = await caller.say(SOUND);
  await caller.untilSound(to);
  await caller.untilSilence();
  return { voice, caller, ran, [Symbol.asyncDispose]: () => voice[Symbol.asyncDispose]() };
}

const states = ({ agent }: VoiceAgent) => agent.sql`select state from turns`;

test("a caller is asked for permission by voice, and the caller's yes counts", async () => {
  await using talk = await call({ byVoice: true });
  const { voice, caller, ran } = talk;
  expect(ran).toEqual([]);
  voice.understand("Yes.");
  const { to } = await caller.say(SOUND);
  await caller.untilSound(to);
  await expect.poll(() => states(voice), { timeout: 10_000 }).toEqual([{ state: "completed" }]);
  expect(ran).toEqual(["notes/a.md"]);
  expect(caller.client.all("permission_request")).toEqual([]);
});

test("a request for a caller who cannot be asked is refused immediately, and the model reads why", async () => {
  await using talk = await call({ byVoice: false });
  const { voice, ran } = talk;
  await expect.poll(() => states(voice), { timeout: 10_000 }).toEqual([{ state: "completed" }]);
  const why = "Not run: the call needs permission, and a participant on the phone cannot be asked for it here";
  expect(toolResults(voice.agent)).toEqual([{ content: why, isError: true }]);
  expect(await voice.agent.sql`select * from permissions`).toEqual([]);
  expect(ran).toEqual([]);
});
