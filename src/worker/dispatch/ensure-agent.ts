import { setTimeout as sleep } from "node:timers/promises";
import { type AgentDispatch, JobStatus, type ParticipantInfo, ParticipantInfo_State } from "@livekit/protocol";
import { ParticipantKind } from "@livekit/rtc-node";
import { AgentDispatchClient, RoomServiceClient, TwirpError } from "livekit-server-sdk";
import { GONE_ATTRIBUTES, isServing, WAITING_ATTRIBUTE, WAITING_FOR_SLOT } from "../../protocol/attributes.ts";
import { agentIdentity } from "../../protocol/conversation-id.ts";
import { ignoreGone, ignoreMissing } from "../ignore-gone.ts";
import { listDispatches } from "../list-dispatches.ts";

export interface RoomClients {
  readonly rooms: RoomServiceClient;
  readonly dispatches: AgentDispatchClient;
  /** The agent name to which rooms are dispatched for this worker. With "", the worker receives every room. */
  readonly agentName: string;
}

export function createRoomClients(
  livekit: { url: string; apiKey: string; apiSecret: string },
  agentName = "",
): RoomClients {
  const { url, apiKey, apiSecret } = livekit;
  const options = { requestTimeout: 5 };
  return {
    rooms: new RoomServiceClient(url, apiKey, apiSecret, options),
    dispatches: new AgentDispatchClient(url, apiKey, apiSecret, options),
    agentName,
  };
}

/** How long a worker takes at most to join the room after it has received the room's job. */
const JOINS_WITHIN_MS = 10_000;
/**
 * How long to wait until a worker accepts a dispatch. A responsive worker accepts right away; with all cores busy,
 * accepting took over a second.
 */
const ACCEPTED_WITHIN_MS = 2_500;
const CHECK_EVERY_MS = 100;

interface AgentRequest {
  /**
   * The identity of the room's former agent, which has died. LiveKit would keep this agent in the room for up to 20 s.
   */
  readonly former?: string | undefined;
  /**
   * Whether the room should get an agent even if LiveKit lists nobody in it. When LiveKit loses its Redis, it forgets
   * the participants and lists them again only when they rejoin.
   */
  readonly needsAgent: boolean;
  /**
   * Whether this worker may request the agent. Called last. If several workers find the same room, returns true to only
   * one of them.
   */
  readonly isAllowed: () => Promise<boolean>;
}

/**
 * Requests an agent from LiveKit if the room has participants (or `needsAgent`), has no agent, and none is on its way.
 * `former` does not count as an agent. Its attributes are changed so that clients treat it as gone, and it stays in the
 * room until its successor removes it (see `Succession`). Resolves to LiveKit's dispatch if an agent was requested.
 */
export async function ensureAgent(
  clients: RoomClients,
  room: string,
  { former, needsAgent, isAllowed }: AgentRequest,
): Promise<AgentDispatch | undefined> {
  const participants = await clients.rooms.listParticipants(room).catch(ignoreMissing);
  const dead = participants.find(({ identity }) => identity === former);
  const isWithoutAgent = !participants.some((each) => each !== dead && isAgentThere(each));
  const hasPeople = participants.some((each) => !isAgent(each));
  const isMissing = isWithoutAgent && (hasPeople || (needsAgent && (await hasRoom(clients, room))));
  const dispatches = isMissing ? await ownDispatches(clients, room) : [];
  const isNeeded = isMissing && !isOnItsWay(dispatches, former);
  if (isNeeded && !(await isAllowed())) return undefined;
  if (dead) await removeOrMarkGone(clients, room, dead);
  return isNeeded ? requestAgain(clients, room, dispatches) : undefined;
}

/**
 * Requests another agent from LiveKit with the metadata of the last dispatch. Before the first turn, the metadata may
 * select the agent; later, the session's stored agent is used.
 */
export async function requestAgent(clients: RoomClients, room: string): Promise<AgentDispatch> {
  return requestAgain(clients, room, await ownDispatches(clients, room));
}

/** Waits up to 2.5 s for a worker to accept the dispatch (`isTaken`). Resolves to whether a worker has accepted it. */
export async function isAnswered(clients: RoomClients, { id, room }: AgentDispatch): Promise<boolean> {
  const until = performance.now() + ACCEPTED_WITHIN_MS;
  do {
    await sleep(CHECK_EVERY_MS);
    const offered = await clients.dispatches.getDispatch(id, room);
    if (offered && isTaken(offered)) return true;
  } while (performance.now() < until);
  return false;
}

/** Whether a worker has accepted the room that LiveKit offered with this dispatch. */
export function isTaken({ state }: AgentDispatch): boolean {
  return (state?.jobs ?? []).some((job) => Number(job.state?.status) === JobStatus.JS_RUNNING);
}

async function removeOrMarkGone(
  { rooms }: RoomClients,
  room: string,
  { identity, state }: ParticipantInfo,
): Promise<void> {
  // An agent that is still joining can be removed, because no participant has seen it.
  if (Number(state) === ParticipantInfo_State.JOINING) await rooms.removeParticipant(room, identity).catch(ignoreGone);
  else await rooms.updateParticipant(room, identity, { attributes: GONE_ATTRIBUTES }).catch(ignoreGone);
}

/** Whether this worker may serve the room. A worker with an agent name serves only rooms dispatched to that name. */
export async function isMeantForUs(clients: RoomClients, room: string): Promise<boolean> {
  return clients.agentName === "" || (await ownDispatches(clients, room)).length > 0;
}

/**
 * Whether the room exists. LiveKit's lists may be empty after LiveKit lost its Redis, so this asks the node that runs
 * the room. If no node runs it, LiveKit takes 3 s to answer.
 */
export async function hasRoom(clients: RoomClients, room: string): Promise<boolean> {
  try {
    await clients.dispatches.listDispatch(room);
    return true;
  } catch (error) {
    if (error instanceof TwirpError && (error.code === "not_found" || error.code === "unavailable")) return false;
    throw error;
  }
}

/** Returns the room's dispatches to this worker's agent name, newest first. */
function ownDispatches({ dispatches, agentName }: RoomClients, room: string): Promise<AgentDispatch[]> {
  return listDispatches(dispatches, { room, agentName });
}

async function requestAgain(
  clients: RoomClients,
  room: string,
  dispatches: readonly AgentDispatch[],
): Promise<AgentDispatch> {
  const newest = dispatches.find(({ metadata }) => metadata !== "");
  return clients.dispatches.createDispatch(room, clients.agentName, { ...(newest && { metadata: newest.metadata }) });
}

/**
 * Whether a worker has just received a job for the room. A dispatch does not prove this: LiveKit may offer the job to a
 * frozen worker and then forget the job.
 */
function isOnItsWay(dispatches: readonly AgentDispatch[], former: string | undefined): boolean {
  const jobs = dispatches.flatMap(({ state }) => state?.jobs ?? []);
  return jobs.some(({ id, state }) => {
    const isRunning = Number(state?.status) === JobStatus.JS_RUNNING;
    const givenAt = Number((state?.startedAt ?? 0n) / 1_000_000n);
    return isRunning && agentIdentity(id) !== former && givenAt > Date.now() - JOINS_WITHIN_MS;
  });
}

/** Notifies participants in a room without an agent that all workers are full. Skips those already notified. */
export async function announceWaiting(clients: RoomClients, room: string): Promise<void> {
  const participants = await clients.rooms.listParticipants(room).catch(ignoreMissing);
  if (participants.some(isAgentThere)) return;
  const attributes = { [WAITING_ATTRIBUTE]: WAITING_FOR_SLOT };
  const people = participants.filter((each) => !isAgent(each));
  const unaware = people.filter((each) => each.attributes[WAITING_ATTRIBUTE] !== WAITING_FOR_SLOT);
  await Promise.all(
    unaware.map(({ identity }) => clients.rooms.updateParticipant(room, identity, { attributes }).catch(ignoreGone)),
  );
}

function isAgent({ kind }: ParticipantInfo): boolean {
  return Number(kind) === ParticipantKind.AGENT;
}

/**
 * Whether the participant is an agent that serves the room. Excludes agents that have left or publish for another
 * agent, and agents that have been joining for too long: after a worker was killed while joining, LiveKit may list its
 * agent forever.
 */
function isAgentThere(participant: ParticipantInfo): boolean {
  const isJoining = Number(participant.state) === ParticipantInfo_State.JOINING;
  const isStuck = isJoining && Number(participant.joinedAtMs) < Date.now() - JOINS_WITHIN_MS;
  return isAgent(participant) && isServing(participant.attributes) && !isStuck;
}
