import { JobStatus, type ParticipantInfo, ParticipantInfo_State } from "@livekit/protocol";
import { ParticipantKind } from "@livekit/rtc-node";
import { AgentDispatchClient, RoomServiceClient, TwirpError } from "livekit-server-sdk";
import { agentIdentity } from "../../protocol/conversation-id.ts";
import { WAITING_ATTRIBUTE, WAITING_FOR_PLACE } from "../../protocol/attributes.ts";

export interface RoomClients {
  readonly rooms: RoomServiceClient;
  readonly dispatches: AgentDispatchClient;
  /** The name by which rooms are dispatched to this worker; "": it is given every room. */
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

/** A worker that LiveKit has given a job to has joined the room by then. */
const JOINS_WITHIN_MS = 10_000;

interface Asking {
  /** The participant of an agent that has died: LiveKit would keep it for up to 20 s. */
  readonly former?: string | undefined;
  /** Asked last: of many workers that find the same room, one asks. */
  readonly isAllowed: () => Promise<boolean>;
}

/**
 * Asks LiveKit for an agent when a room has participants but no agent, or `former` alone, which it removes first, and
 * none is on its way; resolves to whether it asked.
 */
export async function ensureAgent(clients: RoomClients, room: string, { former, isAllowed }: Asking): Promise<boolean> {
  const participants = await clients.rooms.listParticipants(room).catch(ignoreMissing);
  const agents = participants.filter(isAgentThere);
  const dead = agents.find((agent) => agent.identity === former);
  const isMissing = participants.some((each) => !isAgent(each)) && agents.every((agent) => agent === dead);
  const dispatches = isMissing ? await listDispatches(clients, room) : [];
  const isNeeded = isMissing && !isOnItsWay(dispatches, former);
  if (isNeeded && !(await isAllowed())) return false;
  if (dead) await clients.rooms.removeParticipant(room, dead.identity).catch(ignoreGone);
  if (!isNeeded) return false;
  await requestAgain(clients, room, dispatches);
  return true;
}

/** Asks LiveKit for another agent, with the metadata of the dispatch before: it may name which agent is to serve the room. */
export async function requestAgent(clients: RoomClients, room: string): Promise<void> {
  await requestAgain(clients, room, await listDispatches(clients, room));
}

/** Whether this worker is meant to serve the room: one with a name only if the room was dispatched to that name. */
export async function isMeantForUs(clients: RoomClients, room: string): Promise<boolean> {
  return clients.agentName === "" || (await listDispatches(clients, room)).length > 0;
}

type Dispatches = Awaited<ReturnType<AgentDispatchClient["listDispatch"]>>;

/** Those to this worker's name. */
async function listDispatches(clients: RoomClients, room: string): Promise<Dispatches> {
  const dispatches = await clients.dispatches.listDispatch(room).catch(ignoreMissing);
  return dispatches.filter(({ agentName }) => agentName === clients.agentName);
}

async function requestAgain(clients: RoomClients, room: string, dispatches: Dispatches): Promise<void> {
  const createdAt = ({ state }: Dispatches[number]) => state?.createdAt ?? 0n;
  const told = dispatches.filter(({ metadata }) => metadata !== "");
  const [newest] = told.toSorted((a, b) => Number(createdAt(b) - createdAt(a)));
  await clients.dispatches.createDispatch(room, clients.agentName, { ...(newest && { metadata: newest.metadata }) });
}

/**
 * Whether a worker has just been given a job for the room. A request for an agent does not say so: LiveKit may offer the
 * job to a worker that is frozen, and then forgets it.
 */
function isOnItsWay(dispatches: Dispatches, former: string | undefined): boolean {
  const jobs = dispatches.flatMap(({ state }) => state?.jobs ?? []);
  return jobs.some(({ id, state }) => {
    const isRunning = Number(state?.status) === JobStatus.JS_RUNNING;
    const givenAt = Number((state?.startedAt ?? 0n) / 1_000_000n);
    return isRunning && agentIdentity(id) !== former && givenAt > Date.now() - JOINS_WITHIN_MS;
  });
}

/** Lets the participants of a room without an agent know that all workers are full, as far as they do not know. */
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

/** LiveKit may list a worker for ever that was killed while it joined. */
function isAgentThere(participant: ParticipantInfo): boolean {
  const isJoining = Number(participant.state) === ParticipantInfo_State.JOINING;
  return isAgent(participant) && !(isJoining && Number(participant.joinedAtMs) < Date.now() - JOINS_WITHIN_MS);
}

/** For a room that has ended before we asked. */
function ignoreMissing(error: unknown): [] {
  if (error instanceof TwirpError && error.code === "not_found") return [];
  throw error;
}

/** For a participant that has left before we asked: one of several LiveKit servers may list it, and none have it. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof TwirpError && (error.code === "not_found" || error.code === "unavailable"))) throw error;
}
