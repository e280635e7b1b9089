import { Job } from "@livekit/protocol";
import type { RunningJobInfo } from "@livekit/agents";

/** What a session host is told by its worker. */
export type ToHost =
  | { readonly type: "start"; readonly job: SentJob }
  | { readonly type: "end"; readonly jobId: string; readonly reason: string }
  /** The job must be given to another worker at its next pause. */
  | { readonly type: "hand_over"; readonly jobId: string; readonly withinMs: number }
  | { readonly type: "ping" }
  | { readonly type: "inferred"; readonly requestId: number; readonly data?: unknown; readonly error?: string }
  /** The host's jobs have ended, and it is not needed any more. */
  | { readonly type: "close" };

/** What a worker is told by a session host. */
export type FromHost =
  | { readonly type: "ready" }
  | { readonly type: "pong"; readonly rssBytes: number }
  /** The first server tool of this job runs, or the last one has ended. */
  | { readonly type: "busy"; readonly jobId: string; readonly isBusy: boolean }
  /** A job that must be handed over is at a pause: now another agent can be asked for. */
  | { readonly type: "paused"; readonly jobId: string }
  | { readonly type: "ended"; readonly jobId: string }
  /** This job has thrown an error that nobody caught: the host ends, with all its jobs. */
  | { readonly type: "poisoned"; readonly jobId: string }
  | { readonly type: "infer"; readonly requestId: number; readonly method: string; readonly data: unknown };

/** A job as it is sent to a host. Its protobuf message goes as bytes: JSON would change numbers and enums. */
export type SentJob = Omit<RunningJobInfo, "job"> & { readonly job: Uint8Array };

export function toSentJob({ job, ...info }: RunningJobInfo): SentJob {
  return { ...info, job: job.toBinary() };
}

export function fromSentJob({ job, ...info }: SentJob): RunningJobInfo {
  return { ...info, job: Job.fromBinary(job) };
}

/** Set in the environment of a session host. */
export const HOSTED = "PARLEY_SESSION_HOST";

export function isHosted(): boolean {
  return process.env[HOSTED] !== undefined;
}

/** Tells the worker. Does nothing outside of a session host, or when the worker is gone. */
export function reportBusy(jobId: string, isBusy: boolean): void {
  if (isHosted()) tellWorker({ type: "busy", jobId, isBusy });
}

/** Errors are ignored: a host learns in another way that its worker is gone. */
export function tellWorker(message: FromHost): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
