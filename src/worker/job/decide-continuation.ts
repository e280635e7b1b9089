import type { ContinueConversation } from "../../agent/agent-session.ts";
import { abortable } from "../../lib/abortable.ts";
import type { SessionAgents } from "../../session/agent/session-agents.ts";
import type { Logger } from "../logger.ts";
import type { JobRoom } from "./job-session.ts";

/** How long to wait for a participant. Must be much shorter than a lease, which is not renewed meanwhile. */
const PRESENT_WITHIN_MS = 5_000;

interface Continuation {
  readonly job: Pick<JobRoom, "name" | "sid">;
  readonly agents: Pick<SessionAgents, "session">;
  /** Resolves when a participant is in the room. */
  readonly present: Promise<void>;
  readonly logger: Pick<Logger, "error">;
}

/**
 * Returns a function that asks the author's function once a participant is present. If the author's function throws, the
 * room starts a new session, because nobody may see an earlier conversation by mistake.
 */
export function decideContinuation(
  continues: ContinueConversation,
  { job, agents, present, logger }: Continuation,
): () => Promise<boolean> {
  return async () => {
    await abortable(present, AbortSignal.timeout(PRESENT_WITHIN_MS)).catch(() => {});
    const { participants, roomMetadata: metadata } = agents.session;
    try {
      return continues({ name: job.name, roomSid: job.sid ?? "", metadata }, participants) === true;
    } catch (error) {
      logger.error({ error }, "continueConversation failed, new session started");
      return false;
    }
  };
}
