import { setTimeout as sleep } from "node:timers/promises";
import type { RunningJobInfo } from "@livekit/agents";
import { type AgentDispatch, Job, JobType } from "@livekit/protocol";
import { grantToken } from "../../livekit/grant-token.ts";
import { createId } from "../../lib/id.ts";
import { JOINING_ATTRIBUTES } from "../../protocol/attributes.ts";
import { agentIdentity } from "../../protocol/conversation-id.ts";
import type { AcceptedJobs } from "./accepted-jobs.ts";
import { isTaken, type RoomClients } from "./ensure-agent.ts";
import type { Logger } from "../logger.ts";

interface TakeOptions {
  readonly clients: RoomClients;
  readonly livekit: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  readonly accepted: AcceptedJobs;
  readonly launchJob: (job: RunningJobInfo) => Promise<void>;
  /** How many more sessions this worker can serve. */
  readonly freeSlots: () => number;
  /** LiveKit's id of this worker. */
  readonly workerId: () => string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * How long to wait for another worker to answer LiveKit's offer. A responsive worker answers right away. If a busy
 * worker answers later, two agents join, and the agent that did not get the session leaves (`claimRoomSession`).
 */
const ANSWERED_WITHIN_MS = 1_000;
/** The attribute by which LiveKit and its tools identify an agent's participant. */
const AGENT_NAME_ATTRIBUTE = "lk.agent_name";

/** Serves the room on this worker if no worker has answered LiveKit's offer within a second. Never rejects. */
export type ServeUnclaimedDispatch = (dispatch: AgentDispatch) => Promise<void>;

/**
 * Returns a function that serves unclaimed dispatches on this worker.
 *
 * LiveKit offers a job to only one worker. While a frozen worker stays connected, LiveKit considers that worker alive,
 * waits for its answer, and then forgets the job. With two workers, every second offer may be lost that way. So if the
 * offer is not answered, the worker that requested the agent serves the room itself. It creates its own job, whose
 * agent joins like any other.
 */
export function serveUnclaimedDispatch(options: TakeOptions): ServeUnclaimedDispatch {
  const { clients, accepted, logger, signal } = options;
  return async (dispatch) => {
    const { room: name, id } = dispatch;
    try {
      await sleep(ANSWERED_WITHIN_MS, undefined, { signal });
      const offered = await clients.dispatches.getDispatch(id, name);
      if (!offered || isTaken(offered) || accepted.hasRoom(name) || options.freeSlots() <= 0) return;
      // The room exists, since `getDispatch` succeeded. It may be missing from LiveKit's list if LiveKit lost its
      // Redis.
      const [listed] = await clients.rooms.listRooms([name]);
      const room = listed ?? (await clients.rooms.createRoom({ name }));
      const { agentName, metadata } = offered;
      const job = new Job({ id: `AJ_${createId()}`, type: JobType.JT_ROOM, room, dispatchId: id, agentName, metadata });
      logger.warn({ room: name, jobId: job.id }, "dispatch unanswered, serving the room on this worker");
      await launch(job, name, options);
    } catch (error) {
      if (!signal.aborted) logger.warn({ error, room: name }, "serving unanswered dispatch failed");
    }
  };
}

async function launch(job: Job, room: string, { livekit, accepted, launchJob, workerId }: TakeOptions): Promise<void> {
  const identity = agentIdentity(job.id);
  const attributes = { [AGENT_NAME_ATTRIBUTE]: job.agentName, ...JOINING_ATTRIBUTES };
  const token = await grantToken(livekit, { room, identity, attributes, kind: "agent", ttl: "1h" });
  accepted.add({ id: job.id, room, identity });
  await launchJob({
    job,
    acceptArguments: { name: "", identity, metadata: "" },
    token,
    workerId: workerId(),
    ...livekit,
  });
}
