import { AudioSource, LocalAudioTrack, TrackPublishOptions } from "@livekit/rtc-node";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { Participant } from "../../support/participant.ts";
import { httpError, reply, text, toolUse } from "../../../src/model-server/step.ts";
import { messagesTo, offeredTools, toolResults } from "../../support/model-view.ts";

const SCAN = { name: "scan", description: "Scans.", inputSchema: { type: "object" }, scope: "room" as const };

let agent: TestAgent;
let caller: Participant;
let watcher: Participant;

/** A caller who joined through LiveKit's SIP service, and another participant who sees what is said. */
beforeEach(async () => {
  agent = await TestAgent.start();
  watcher = await agent.client("watcher", { tools: [SCAN] });
  caller = await Participant.join(agent.roomName, "caller", { kind: "sip" });
  const voice = LocalAudioTrack.createAudioTrack("voice", new AudioSource(48_000, 1));
  await caller.room.localParticipant?.publishTrack(voice, new TrackPublishOptions());
  await vi.waitUntil(() => watcher.room.remoteParticipants.has("caller"), { timeout: 10_000 });
});

afterEach(async () => {
  await caller.leave();
  await agent[Symbol.asyncDispose]();
});

async function press(keys: string): Promise<void> {
  for (const key of keys) await caller.room.localParticipant?.publishDtmf("0123456789*#".indexOf(key), key);
}

test("keys are a message, and the message is answered", async () => {
  agent.model.script([reply([text("Sales it is.")])]);
  await press("12#");
  await watcher.next("assistant_sentence", (body) => body.text === "Sales it is.");
  // The caller is not alone in the room, so the message is shown with its sender.
  const shown = messagesTo(agent, 0)[0]?.content.at(-1)?.text ?? "";
  expect(JSON.parse(shown)).toMatchObject({ from: "caller", text: "[keypad] 12#" });
});

test("nothing is sent to a caller alone, whatever goes wrong", async () => {
  agent.model.script([httpError(400, "invalid_request_error")]);
  await press("1#");
  await watcher.next("assistant_sentence", (body) => body.isFinal);
  expect(caller.all("error_message")).toEqual([]);
  expect(caller.all("configuration")).toEqual([]);
});

test("a request for a caller's permission is refused immediately if nobody hears it, and not asked by voice", async () => {
  const { tool, ran } = guardedTool();
  const permission = { rules: [], byVoice: true, waitMs: 60_000 };
  await using deaf = await TestAgent.start({ tools: { write: tool }, policy: { permission } });
  const beside = await deaf.client("watcher");
  const deafCaller = await Participant.join(deaf.roomName, "caller", { kind: "sip" });
  await vi.waitUntil(() => beside.room.remoteParticipants.has("caller"), { timeout: 10_000 });
  deaf.model.script([reply([toolUse("write", { path: "notes/a.md" })]), reply([text("I cannot ask you.")])]);
  await deafCaller.room.localParticipant?.publishDtmf(1, "1");
  await deafCaller.room.localParticipant?.publishDtmf(11, "#");
  await beside.next("assistant_sentence", (body) => body.text === "I cannot ask you.");

  const why = "Not run: the call needs permission, and a participant on the phone cannot be asked for it here";
  expect(toolResults(deaf)).toEqual([{ content: why, isError: true }]);
  expect(ran).toEqual([]);
  expect(await deaf.sql`select from permissions`).toEqual([]);
  await deafCaller.leave();
});

test("a caller runs no tools, even if it announces some; another participant's client does", async () => {
  await caller.send({ type: "configuration", body: { tools: [{ ...SCAN, name: "open_door" }] } }, { asStream: true });
  agent.model.script([reply([toolUse("scan")]), reply([text("Scanned.")])]);
  await press("1#");
  const { id } = await watcher.next("tool_use_request");
  await watcher.answer(id, { success: true });
  await watcher.next("assistant_sentence", (body) => body.text === "Scanned.");
  expect(offeredTools(agent, 0)).toEqual(["scan"]);
  expect(caller.all("tool_use_request")).toEqual([]);
});
