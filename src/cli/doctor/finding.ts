import { AppError } from "../../errors/app-error.ts";
import { hideSecrets } from "../../lib/checks/hide-secrets.ts";

/** What the doctor has found out about one part. */
export interface Finding {
  /** `note`: it works, but something optional is missing. */
  readonly state: "ok" | "note" | "missing";
  readonly text: string;
  /** What to do about it. */
  readonly remedy?: string;
}

export const ok = (text: string): Finding => ({ state: "ok", text: hideSecrets(text) });
export const note = (text: string, remedy: string): Finding => ({ state: "note", text: hideSecrets(text), remedy });
export const missing = (text: string, remedy: string): Finding => ({
  state: "missing",
  text: hideSecrets(text),
  remedy,
});

/**
 * The error's message with that of its cause, because `fetch failed` alone helps nobody. Parley's own errors say it all.
 */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AppError) return error.message;
  const cause = error.cause === undefined ? "" : `: ${messageOf(error.cause)}`;
  return `${error.message}${cause}`;
}
