import "../../src/testing/vitest.ts";
import { expect, inject, test } from "vitest";
import { answer, leave } from "../../src/testing/device/behaviour.ts";
import { scripted } from "../../src/testing/model/scripted.ts";
import type { RoomServers } from "../../src/testing/stage/room-servers.ts";
import { startTalk } from "../../src/testing/start-talk.ts";
import { forFile } from "../support/lifetimes.ts";
import { tempDatabase } from "../support/servers/temp-database.ts";
import { tableAgent } from "./table-agent.ts";

const database = forFile(tempDatabase);

function servers(): RoomServers {
  const livekit = { url: inject("livekitUrl"), apiKey: inject("livekitApiKey"), apiSecret: inject("livekitApiSecret") };
  return { livekit, databaseUrl: database.url };
}

const everywhere = [
  ["in memory", () => false],
  ["in a room", servers],
] as const;

test.each(everywhere)("%s, a device answers and a permission is rejected", async (_where, room) => {
  const model = scripted([{ use: { get_location: {} } }, { use: { book: { city: "Paris" } } }, "Then not."]);
  await using talk = await startTalk({ ...tableAgent, model, room: room() });
  talk.device({ tools: { get_location: answer({ city: "Paris" }) } });
  talk.permission("reject");

  const turn = await talk.say("Book a table near me");

  expect(turn).toHaveCalled("get_location", {}, { ranOn: "client", result: { city: "Paris" } });
  expect(turn).toHaveAsked("book", { state: "rejected" });
  expect(turn).toHaveCalled("book", { city: "Paris" }, { errorCode: "permission_denied" });
  expect(turn).toSay("Then not.");
});

test.each(everywhere)("%s, a device comes back and answers", async (_where, room) => {
  const model = scripted([{ use: { get_location: {} } }, "Paris."]);
  // LiveKit needs up to a second to let it in again.
  const config = { ...tableAgent.config, toolTimeoutMs: 5_000 };
  await using talk = await startTalk({ ...tableAgent, config, model, room: room() });
  talk.device({ tools: { get_location: leave({ backAfterMs: 50, value: { city: "Paris" } }) } });

  const turn = await talk.say("Where am I?");

  expect(turn).toHaveCalled("get_location", {}, { result: { city: "Paris" } });
});
