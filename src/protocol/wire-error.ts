import { ERROR_CODES, toAppError } from "../errors/app-error.ts";
import type { ErrorMessage } from "./messages/control-messages.ts";

/**
 * Converts any error to the body of an ErrorMessage. Anything but an `AppError` becomes `internal`, with a fixed
 * message.
 */
export function toWireError(
  error: unknown,
  { id, originatingId }: { readonly id: string; readonly originatingId?: string | undefined },
): ErrorMessage & { readonly id: string } {
  const { code, message } = toAppError(error);
  const { wire, severity, recoverable } = ERROR_CODES[code];
  return { id, code: wire, message, severity, recoverable, ...(originatingId !== undefined && { originatingId }) };
}
