import { Job } from "@livekit/protocol";
import type { RunningJobInfo } from "@livekit/agents";
import type { ModelCallReport } from "../../llm/watch-model.ts";

/** Messages from the main process to a host process. */
export type ToHost =
  | { readonly type: "start"; readonly job: SentJob }
  | { readonly type: "end"; readonly jobId: string; readonly reason: string }
  /** The host process must hand the job's session over to another worker at the session's next pause. */
  | { readonly type: "hand_over"; readonly jobId: string; readonly withinMs: number }
  | { readonly type: "ping" }
  | { readonly type: "inferred"; readonly requestId: number; readonly data?: unknown; readonly error?: string }
  /** The jobs of the host process have ended, and it is no longer needed. */
  | { readonly type: "close" };

/** Messages from a host process to the main process. */
export type FromHost =
  | { readonly type: "ready" }
  | { readonly type: "pong"; readonly rssBytes: number }
  /** The first server tool of this job has started, or the last one has ended. */
  | { readonly type: "busy"; readonly jobId: string; readonly isBusy: boolean }
  /** A job that is to be handed over is at a pause, so another agent can be requested now. */
  | { readonly type: "paused"; readonly jobId: string }
  | { readonly type: "ended"; readonly jobId: string }
  /** This job threw an uncaught exception. The host process exits, with all its jobs. */
  | { readonly type: "poisoned"; readonly jobId: string }
  /** A model call was answered or refused. */
  | { readonly type: "model_call"; readonly report: ModelCallReport }
  | { readonly type: "infer"; readonly requestId: number; readonly method: string; readonly data: unknown };

/**
 * A job as it is sent to a host process. Its protobuf message is sent as bytes, because JSON would change numbers and
 * enums.
 */
export type SentJob = Omit<RunningJobInfo, "job"> & { readonly job: Uint8Array };

export function toSentJob({ job, ...info }: RunningJobInfo): SentJob {
  return { ...info, job: job.toBinary() };
}

export function fromSentJob({ job, ...info }: SentJob): RunningJobInfo {
  return { ...info, job: Job.fromBinary(job) };
}

/** The environment variable that is set in a host process. */
export const HOSTED = "PARLEY_SESSION_HOST";

export function isHosted(): boolean {
  return process.env[HOSTED] !== undefined;
}

/**
 * Notifies the main process whether a server tool is running for the job. Does nothing outside a host process, or if
 * the main process is gone.
 */
export function reportBusy(jobId: string, isBusy: boolean): void {
  if (isHosted()) sendToWorker({ type: "busy", jobId, isBusy });
}

/**
 * Sends a message to the main process. Ignores errors, because a host process learns from the event `disconnect` that
 * its worker is gone.
 */
export function sendToWorker(message: FromHost): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
