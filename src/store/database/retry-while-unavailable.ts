import pRetry from "p-retry";
import { AppError } from "../../errors/app-error.ts";

interface RetryOptions {
  /** @defaultValue retries without a time limit */
  readonly giveUpAfterMs?: number;
  readonly signal?: AbortSignal;
  /** Whether the write is still wanted. Checked before each retry. @defaultValue always wanted */
  readonly isStillWanted?: () => boolean;
}

/**
 * Retries a write while the database is unavailable. Rejects with the last attempt's error, or with the signal's
 * reason.
 */
export function retryWhileUnavailable<Result>(
  write: () => Promise<Result>,
  { giveUpAfterMs, signal, isStillWanted = () => true }: RetryOptions = {},
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
