import { AppError } from "../../errors/app-error.ts";
import { hideSecrets } from "../../lib/checks/hide-secrets.ts";

/** The result of one of the doctor's checks. */
export interface Finding {
  /** `note`: it works, but something optional is missing. */
  readonly state: "ok" | "note" | "missing";
  readonly text: string;
  /** How to fix it. */
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
 * Returns the error's message and those of its causes, because a message such as `fetch failed` alone does not help.
 * The causes of Parley's own errors are left out, because these errors' messages are complete.
 */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AppError) return error.message;
  const cause = error.cause === undefined ? "" : `: ${messageOf(error.cause)}`;
  return `${error.message}${cause}`;
}
