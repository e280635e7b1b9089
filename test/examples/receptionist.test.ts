import { readFile } from "node:fs/promises";
import { RoomServiceClient } from "livekit-server-sdk";
import { expect, inject, test, vi } from "vitest";
import receptionist from "../../examples/receptionist/parley.config.ts";
import type { AgentDefinition } from "../../src/agent/define-agent.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { checkConfig } from "../../src/worker/settings/read-config-file.ts";
import { TestAgent } from "../support/agent.ts";
import { outline } from "../support/model-view.ts";
import { Participant } from "../support/participant.ts";

const { permission, ...rest } = receptionist;
const agent = rest as AgentDefinition;
const policy = { permission: { rules: permission?.rules ?? [], byVoice: true, waitMs: 120_000 } };

test("the receptionist's file is a config, and one page long", async () => {
  const source = await readFile("examples/receptionist/parley.config.ts", "utf8");

  expect(checkConfig(receptionist, "parley.config.ts").greeting).toBe(receptionist.greeting);
  expect(source.split("\n").length).toBeLessThan(120);
});

test.each([
  ["2026-11-23T07:59:00Z", "closed"],
  ["2026-11-23T08:00:00Z", "open"],
  ["2026-07-20T15:59:00Z", "open"],
  ["2026-07-20T16:00:00Z", "closed"],
  ["2026-11-22T11:00:00Z", "closed"],
])("at %s the practice in Berlin is %s, whatever the caller's time zone", (now, state) => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(now) });
  try {
    const { instructions } = agent;
    const session = { agent: "default", room: "call", participants: [], metadata: {}, roomMetadata: {}, state: {} };
    const written = typeof instructions === "function" ? instructions(session) : instructions;

    expect(written).toContain(`The practice is ${state}`);
  } finally {
    vi.useRealTimers();
  }
});

test("the keys that a caller presses reach the receptionist", async () => {
  await using desk = await TestAgent.start({ agent, policy });
  await using caller = await Participant.join(desk.roomName, "caller", { kind: "sip" });
  await vi.waitUntil(() => desk.room.remoteParticipants.has("caller"), { timeout: 5_000 });
  desk.model.script([reply([text("You have chosen the office.")])]);

  await caller.room.localParticipant?.publishDtmf(2, "2");
  await caller.room.localParticipant?.publishDtmf(11, "#");

  await vi.waitUntil(() => desk.model.requests.length === 1, { timeout: 10_000 });
  expect(outline(desk).at(-1)).toContain("[keypad] 2#");
});

test("the receptionist greets, asks before it transfers, and ends the call after its goodbye", async () => {
  await using desk = await TestAgent.start({ agent, policy });
  const caller = await desk.client("caller", { features: ["permissions"] }, { name: "Ana" });
  await caller.next("assistant_sentence", ({ text: words }) => words.startsWith("Good day"));
  desk.model.script([
    reply([toolUse("transfer_call", { to: "nurse" })]),
    reply([text("The nurse cannot be reached. Goodbye."), toolUse("end_call")]),
  ]);

  const messageId = await caller.say("It hurts.");
  const { id: permissionId, title } = await caller.next("permission_request");
  await caller.send({ type: "permission_response", body: { permissionId, response: "approve" } });

  expect(title).toBe("Transfer the call to nurse");
  expect(await caller.answerTo(messageId)).toContain("Goodbye.");
  const [first] = desk.model.requests;
  expect(JSON.stringify(first?.body["system"])).toContain("Ana");
  expect(desk.model.rejections).toEqual([]);
  const rooms = new RoomServiceClient(inject("livekitUrl"), inject("livekitApiKey"), inject("livekitApiSecret"));
  await expect.poll(() => rooms.listRooms([desk.roomName]), { timeout: 5_000 }).toEqual([]);
});
