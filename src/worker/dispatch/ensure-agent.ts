import { setTimeout as sleep } from "node:timers/promises";
import { type AgentDispatch, JobStatus, type ParticipantInfo, ParticipantInfo_State } from "@livekit/protocol";
import { ParticipantKind } from "@livekit/rtc-node";
import { AgentDispatchClient, RoomServiceClient, TwirpError } from "livekit-server-sdk";
import { GONE_ATTRIBUTES, isServing, WAITING_ATTRIBUTE, WAITING_FOR_PLACE } from "../../protocol/attributes.ts";
import { agentIdentity } from "../../protocol/conversation-id.ts";
import { ignoreGone, ignoreMissing } from "../ignore-gone.ts";
import { listDispatches } from "../list-dispatches.ts";

export interface RoomClients {
  readonly rooms: RoomServiceClient;
  readonly dispatches: AgentDispatchClient;
  /** The name by which rooms are dispatched to this worker; "": it gets every room. */
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

/** A worker that has got a job joins its room within this time. */
const JOINS_WITHIN_MS = 10_000;
/** A worker that is there answers LiveKit's offer at once. */
const ANSWERED_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 100;

interface Asking {
  /** The identity of an agent that has died, which LiveKit would keep in the room for up to 20 s. */
  readonly former?: string | undefined;
  /**
   * Whether the room is to get an agent even if LiveKit lists nobody in it. LiveKit forgets who is there when its Redis
   * is lost, and shows them again only when they join.
   */
  readonly isAgentOwed: boolean;
  /** Asked last. It allows one of the workers that find the same room. */
  readonly isAllowed: () => Promise<boolean>;
}

/**
 * Asks LiveKit for an agent when a room has participants, or is owed an agent, and has no agent, and none is on its way.
 * `former` does not count as an agent, and clients are told so. It stays in the room until its successor removes it (see
 * `Succession`). Resolves to LiveKit's dispatch, if it asked.
 */
export async function ensureAgent(
  clients: RoomClients,
  room: string,
  { former, isAgentOwed, isAllowed }: Asking,
): Promise<AgentDispatch | undefined> {
  const participants = await clients.rooms.listParticipants(room).catch(ignoreMissing);
  const dead = participants.find(({ identity }) => identity === former);
  const isWithoutAgent = !participants.some((each) => each !== dead && isAgentThere(each));
  const hasPeople = participants.some((each) => !isAgent(each));
  const isMissing = isWithoutAgent && (hasPeople || (isAgentOwed && (await hasRoom(clients, room))));
  const dispatches = isMissing ? await ownDispatches(clients, room) : [];
  const isNeeded = isMissing && !isOnItsWay(dispatches, former);
  if (isNeeded && !(await isAllowed())) return undefined;
  if (dead) await noteGone(clients, room, dead);
  return isNeeded ? requestAgain(clients, room, dispatches) : undefined;
}

/**
 * Asks LiveKit for another agent. The last dispatch's metadata are sent again: they may name the agent, if no turn has begun
 * yet. Later, the session's stored agent serves it.
 */
export async function requestAgent(clients: RoomClients, room: string): Promise<AgentDispatch> {
  return requestAgain(clients, room, await ownDispatches(clients, room));
}

/** The same as `isTaken`, asked until it is so, for about a second. */
export async function isAnswered(clients: RoomClients, { id, room }: AgentDispatch): Promise<boolean> {
  const until = performance.now() + ANSWERED_WITHIN_MS;
  do {
    await sleep(LOOK_EVERY_MS);
    const offered = await clients.dispatches.getDispatch(id, room);
    if (offered && isTaken(offered)) return true;
  } while (performance.now() < until);
  return false;
}

/** Whether a worker has taken the room that LiveKit has offered by this dispatch. */
export function isTaken({ state }: AgentDispatch): boolean {
  return (state?.jobs ?? []).some((job) => Number(job.state?.status) === JobStatus.JS_RUNNING);
}

async function noteGone({ rooms }: RoomClients, room: string, { identity, state }: ParticipantInfo): Promise<void> {
  // Nobody knows of it yet.
  if (Number(state) === ParticipantInfo_State.JOINING) await rooms.removeParticipant(room, identity).catch(ignoreGone);
  else await rooms.updateParticipant(room, identity, { attributes: GONE_ATTRIBUTES }).catch(ignoreGone);
}

/** Whether this worker may serve the room. A worker with a name serves only rooms that were dispatched to it. */
export async function isMeantForUs(clients: RoomClients, room: string): Promise<boolean> {
  return clients.agentName === "" || (await ownDispatches(clients, room)).length > 0;
}

/**
 * Whether LiveKit has the room. Its lists may be empty after the loss of its Redis; the node that has the room is asked
 * here. LiveKit takes 3 s to say that no node has it.
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

/** The room's dispatches to this worker's name, newest first. */
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
 * Whether a worker has just got a job for the room. That an agent was asked for does not prove it: LiveKit may offer
 * the job to a frozen worker, and then forgets it.
 */
function isOnItsWay(dispatches: readonly AgentDispatch[], former: string | undefined): boolean {
  const jobs = dispatches.flatMap(({ state }) => state?.jobs ?? []);
  return jobs.some(({ id, state }) => {
    const isRunning = Number(state?.status) === JobStatus.JS_RUNNING;
    const givenAt = Number((state?.startedAt ?? 0n) / 1_000_000n);
    return isRunning && agentIdentity(id) !== former && givenAt > Date.now() - JOINS_WITHIN_MS;
  });
}

/** Tells those participants of a room without an agent who do not know it yet that all workers are full. */
export async function tellOfWaiting(clients: RoomClients, room: string): Promise<void> {
  const participants = await clients.rooms.listParticipants(room).catch(ignoreMissing);
  if (participants.some(isAgentThere)) return;
  const attributes = { [WAITING_ATTRIBUTE]: WAITING_FOR_PLACE };
  const people = participants.filter((each) => !isAgent(each));
  const unaware = people.filter((each) => each.attributes[WAITING_ATTRIBUTE] !== WAITING_FOR_PLACE);
  await Promise.all(
    unaware.map(({ identity }) => clients.rooms.updateParticipant(room, identity, { attributes }).catch(ignoreGone)),
  );
}

function isAgent({ kind }: ParticipantInfo): boolean {
  return Number(kind) === ParticipantKind.AGENT;
}

/**
 * Not an agent that has gone, or publishes for another one; nor one that has been joining for too long: LiveKit may list
 * for ever a worker that was killed then.
 */
function isAgentThere(participant: ParticipantInfo): boolean {
  const isJoining = Number(participant.state) === ParticipantInfo_State.JOINING;
  const isStuck = isJoining && Number(participant.joinedAtMs) < Date.now() - JOINS_WITHIN_MS;
  return isAgent(participant) && isServing(participant.attributes) && !isStuck;
}
