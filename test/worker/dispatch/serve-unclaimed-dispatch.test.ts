import type { RunningJobInfo } from "@livekit/agents";
import { ParticipantKind, Room, RoomEvent } from "@livekit/rtc-node";
import { type AgentDispatch, JobStatus } from "@livekit/protocol";
import pino from "pino";
import { expect, inject, test, vi } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { AcceptedJobs } from "../../../src/worker/dispatch/accepted-jobs.ts";
import { createRoomClients, type RoomClients } from "../../../src/worker/dispatch/ensure-agent.ts";
import { serveUnclaimedDispatch } from "../../../src/worker/dispatch/serve-unclaimed-dispatch.ts";
import { Participant } from "../../support/participant.ts";

/** No worker has this name, so nobody accepts the dispatch. */
const NOBODY = `nobody-${createId()}`;

const livekit = () => ({
  url: inject("livekitUrl"),
  apiKey: inject("livekitApiKey"),
  apiSecret: inject("livekitApiSecret"),
});

/** A room with a participant, and a worker that has asked LiveKit for an agent in that room. */
async function askFor(given: { readonly places?: number; readonly isAnswered?: boolean } = {}) {
  const { places = 1, isAnswered = false } = given;
  const room = `room-${createId()}`;
  const user = await Participant.join(room, "user");
  const clients = createRoomClients(livekit(), NOBODY);
  const dispatch = await clients.dispatches.createDispatch(room, NOBODY, { metadata: '{"agent": "billing"}' });
  const launched: RunningJobInfo[] = [];
  const accepted = new AcceptedJobs(places);
  const running = { state: { jobs: [{ state: { status: JobStatus.JS_RUNNING } }] } } as unknown as AgentDispatch;
  const answering = { getDispatch: async () => running } as unknown as RoomClients["dispatches"];
  const take = serveUnclaimedDispatch({
    clients: isAnswered ? { ...clients, dispatches: answering } : clients,
    livekit: livekit(),
    accepted,
    launchJob: async (job) => void launched.push(job),
    freeSlots: () => places,
    workerId: () => "worker",
    logger: pino({ level: "silent" }),
    signal: new AbortController().signal,
  });
  return { room, user, dispatch, accepted, launched, take };
}

test("a room whose job offer nobody accepts is served by the worker that requested it, as through LiveKit", async () => {
  const { room, user, dispatch, accepted, launched, take } = await askFor();

  await take(dispatch);

  const [info] = launched;
  expect(info?.job).toMatchObject({ agentName: NOBODY, metadata: '{"agent": "billing"}', room: { name: room } });
  expect(info?.job.room?.sid).toMatch(/^RM_/u);
  expect(accepted.hasRoom(room)).toBe(true);
  const agent = new Room();
  await agent.connect(info?.url ?? "", info?.token ?? "", { autoSubscribe: false, dynacast: false });
  await vi.waitUntil(() => user.room.remoteParticipants.size > 0, { timeout: 5_000 });
  const [seen] = user.room.remoteParticipants.values();
  expect([seen?.identity, seen?.kind]).toEqual([`agent-${info?.job.id}`, ParticipantKind.AGENT]);
  expect(seen?.attributes["lk.agent_name"]).toBe(NOBODY);
  // The token must allow an agent to set attributes, because agents publish their state in one.
  const attributesChanged = new Promise((resolve) => user.room.on(RoomEvent.ParticipantAttributesChanged, resolve));
  await agent.localParticipant?.setAttributes({ "lk.agent.state": "listening" });
  expect(await attributesChanged).toMatchObject({ "lk.agent.state": "listening" });
  await agent.disconnect();
  await user.leave();
});

test.each([
  ["that a worker has answered for", { isAnswered: true }],
  ["for which this worker has no free slot", { places: 0 }],
])("a room %s is left alone", async (_, given) => {
  const { user, dispatch, launched, take } = await askFor(given);

  await take(dispatch);

  expect(launched).toEqual([]);
  await user.leave();
});
