import { ERROR_CODES, toAppError } from "../errors/app-error.ts";
import type { ErrorMessage } from "./messages/control-messages.ts";

/** Makes an ErrorMessage's body of any error. One that is no `AppError` becomes `internal`, with a fixed text. */
export function toWireError(
  error: unknown,
  { id, originatingId }: { readonly id: string; readonly originatingId?: string | undefined },
): ErrorMessage & { readonly id: string } {
  const { code, message } = toAppError(error);
  const { wire, severity, recoverable } = ERROR_CODES[code];
  return { id, code: wire, message, severity, recoverable, ...(originatingId !== undefined && { originatingId }) };
}
