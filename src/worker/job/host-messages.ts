import { Job } from "@livekit/protocol";
import type { RunningJobInfo } from "@livekit/agents";

/** What a session host is told by its worker. */
export type ToHost =
  | { readonly type: "start"; readonly job: SentJob }
  | { readonly type: "end"; readonly jobId: string; readonly reason: string }
  /** The job is to be given to another worker, at its next pause. */
  | { readonly type: "hand_over"; readonly jobId: string; readonly withinMs: number }
  | { readonly type: "ping" }
  | { readonly type: "inferred"; readonly requestId: number; readonly data?: unknown; readonly error?: string }
  /** Its jobs have ended: it is not needed any more. */
  | { readonly type: "close" };

/** What a worker is told by a session host. */
export type FromHost =
  | { readonly type: "ready" }
  | { readonly type: "pong"; readonly rssBytes: number }
  /** A tool runs on the server for this job, or none does any more. */
  | { readonly type: "busy"; readonly jobId: string; readonly isBusy: boolean }
  /** A job that is to be handed over is at a pause: another agent may be asked for. */
  | { readonly type: "paused"; readonly jobId: string }
  | { readonly type: "ended"; readonly jobId: string }
  /** This job has thrown where nobody could catch it: the host ends, and all that is in it. */
  | { readonly type: "poisoned"; readonly jobId: string }
  | { readonly type: "infer"; readonly requestId: number; readonly method: string; readonly data: unknown };

/** A job on its way. As JSON its numbers and enums would come out as other ones. */
export type SentJob = Omit<RunningJobInfo, "job"> & { readonly job: Uint8Array };

export function toSentJob({ job, ...info }: RunningJobInfo): SentJob {
  return { ...info, job: job.toBinary() };
}

export function fromSentJob({ job, ...info }: SentJob): RunningJobInfo {
  return { ...info, job: Job.fromBinary(job) };
}

/** In the environment of a session host. */
export const HOSTED = "PARLEY_SESSION_HOST";

export function isHosted(): boolean {
  return process.env[HOSTED] !== undefined;
}

/** Ignored outside of a host, and when its worker is gone. */
export function reportBusy(jobId: string, isBusy: boolean): void {
  if (isHosted()) tellWorker({ type: "busy", jobId, isBusy });
}

/** Whoever tells a worker that has gone finds out otherwise. */
export function tellWorker(message: FromHost): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
