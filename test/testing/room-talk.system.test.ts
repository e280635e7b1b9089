import "../../src/testing/vitest.ts";
import { beforeAll, expect, inject, test } from "vitest";
import { answer, leave } from "../../src/testing/device/behavior.ts";
import { scripted } from "../../src/testing/model/scripted.ts";
import type { RoomServers } from "../../src/testing/stage/room-servers.ts";
import { startTalk } from "../../src/testing/start-talk.ts";
import { forFile } from "../support/lifetimes.ts";
import { secondsOf } from "../support/speaker.ts";
import { warmUp } from "../support/voice-agent.ts";
import { tempDatabase } from "../support/servers/temp-database.ts";
import { tableAgent } from "./table-agent.ts";

const database = forFile(tempDatabase);

function servers(): RoomServers {
  const livekit = { url: inject("livekitUrl"), apiKey: inject("livekitApiKey"), apiSecret: inject("livekitApiSecret") };
  return { livekit, databaseUrl: database.url };
}

const everywhere = [
  ["in memory", () => ({})],
  ["in a room", () => ({ room: servers() })],
  ["by voice", () => ({ room: servers(), voice: true })],
] as const;

beforeAll(() => warmUp("Book a table near me"));

test.each(everywhere)("%s, a device answers and a permission is rejected", async (_where, place) => {
  const model = scripted([{ use: { get_location: {} } }, { use: { book: { city: "Paris" } } }, "Then not."]);
  await using talk = await startTalk({ ...tableAgent, model, ...place() });
  talk.device({ tools: { get_location: answer({ city: "Paris" }) } });
  talk.permission("reject");

  const turn = await talk.say("Book a table near me");

  expect(turn).toHaveCalled("get_location", {}, { ranOn: "client", result: { city: "Paris" } });
  expect(turn).toHaveAsked("book", { state: "rejected" });
  expect(turn).toHaveCalled("book", { city: "Paris" }, { errorCode: "permission_denied" });
  expect(turn).toSay("Then not.");
});

test.each(everywhere)("%s, a device comes back and answers", async (_where, place) => {
  const model = scripted([{ use: { get_location: {} } }, "Paris."]);
  // The timeout allows for LiveKit, which needs up to a second to let the participant in again.
  const config = { ...tableAgent.config, toolTimeoutMs: 5_000 };
  await using talk = await startTalk({ ...tableAgent, config, model, ...place() });
  talk.device({ tools: { get_location: leave({ backAfterMs: 50, value: { city: "Paris" } }) } });

  const turn = await talk.say("Where am I?");

  expect(turn).toHaveCalled("get_location", {}, { result: { city: "Paris" } });
});

test("by voice, several sentences are one turn, and its answer is heard in full", async () => {
  const question = "Hello there. A table, please. For two.";
  const reply = "There is one by the window.";
  await using talk = await startTalk({ ...tableAgent, model: scripted([reply]), room: servers(), voice: true });

  const turn = await talk.say(question);

  expect(turn.said).toBe(question);
  expect(turn).toSay(reply);
  expect(turn.soundMs).toBeGreaterThan(700 * (await secondsOf(reply)));
});

test("by voice, a permission question is spoken, and answered with a spoken word", async () => {
  const model = scripted([{ use: { book: { city: "Paris" } } }, "It is booked."]);
  const config = { ...tableAgent.config, permission: { byVoice: true } };
  await using talk = await startTalk({ ...tableAgent, config, model, room: servers(), voice: true });
  talk.permission({ say: "Yes, please." });

  const turn = await talk.say("Book a table in Paris");

  expect(turn).toHaveAsked("book", { state: "approved" });
  expect(turn).toHaveCalled("book", { city: "Paris" }, { state: "success" });
  expect(turn).toSay(/booked/);
});

test("by voice, an answer that cannot be heard fails the test, and shows the turn", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted(["…"]), room: servers(), voice: true });

  await expect(talk.say("Are you there?")).rejects.toThrow(
    "The answer was not played:\nuser:  Are you there?\nagent: …",
  );
});

test("a voice without a room is refused, with what to write", async () => {
  const talk = startTalk({ ...tableAgent, model: scripted([]), voice: true });

  await expect(talk).rejects.toThrow("voice: sound needs a room; set room: true as well");
});
