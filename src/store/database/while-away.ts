import pRetry from "p-retry";
import { AppError } from "../../errors/app-error.ts";

interface WhileAwayOptions {
  /** @defaultValue it does not give up */
  readonly giveUpAfterMs?: number;
  readonly signal?: AbortSignal;
  /** Asked before each further attempt. @defaultValue it is */
  readonly isStillWanted?: () => boolean;
}

/** Tries a write again while the database is away. Rejects with the reason of the last attempt, or of the signal. */
export function whileAway<Result>(
  write: () => Promise<Result>,
  { giveUpAfterMs, signal, isStillWanted = () => true }: WhileAwayOptions = {},
): Promise<Result> {
  return pRetry(write, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 50,
    maxTimeout: 1_000,
    ...(giveUpAfterMs !== undefined && { maxRetryTime: giveUpAfterMs }),
    ...(signal && { signal }),
    shouldRetry: ({ error }) => error instanceof AppError && error.code === "unavailable" && isStillWanted(),
  });
}
