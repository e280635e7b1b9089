import { AppError } from "../../errors/app-error.ts";

/** What the log says of an error. */
export interface ErrorDescription {
  readonly type: string;
  readonly code?: string;
  readonly message?: string;
  readonly at?: readonly string[];
  readonly cause?: ErrorDescription;
}

/**
 * An error without content: only texts of our own errors are kept. A driver's or a tool's message may quote what a
 * participant said, so of any other error the log has its type, its code and where it came from.
 */
export function describeError(error: unknown): ErrorDescription | undefined {
  if (!(error instanceof Error)) return error === undefined ? undefined : { type: typeof error };
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const cause = describeError(error.cause);
  if (error instanceof AppError) return { type: error.name, ...code, message: error.message, ...(cause && { cause }) };
  const at = (error.stack ?? "").split("\n").filter((line) => /^\s+at /u.test(line));
  return { type: error.name, ...code, at: at.slice(0, 8).map((line) => line.trim()), ...(cause && { cause }) };
}
