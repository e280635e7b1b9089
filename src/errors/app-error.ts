/**
 * The error codes that clients receive. Each is listed with its number on the wire (ErrorMessage, type 1 of the
 * protocol), its severity (0 info to 3 fatal), and whether the client may retry.
 */
export const ERROR_CODES = {
  malformed: { wire: 101, severity: 2, recoverable: true },
  unknown_type: { wire: 102, severity: 1, recoverable: true },
  conversation_not_found: { wire: 201, severity: 2, recoverable: true },
  invalid_state: { wire: 202, severity: 2, recoverable: true },
  tool_not_found: { wire: 301, severity: 2, recoverable: true },
  tool_timeout: { wire: 304, severity: 2, recoverable: true },
  not_allowed: { wire: 401, severity: 2, recoverable: false },
  too_large: { wire: 413, severity: 2, recoverable: true },
  too_many: { wire: 429, severity: 2, recoverable: true },
  internal: { wire: 501, severity: 3, recoverable: true },
  unavailable: { wire: 503, severity: 3, recoverable: true },
  lost_lease: { wire: 505, severity: 3, recoverable: true },
  queue_overflow: { wire: 504, severity: 2, recoverable: true },
  invalid_config: { wire: 500, severity: 3, recoverable: false },
} as const satisfies Record<string, { wire: number; severity: 0 | 1 | 2 | 3; recoverable: boolean }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * An error with one of these codes. Callers branch on `code`, never on `message`. The message contains nothing that a
 * participant said.
 */
export class AppError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/**
 * Returns an `AppError` unchanged. Wraps any other error as the `cause` of an `internal` error with a fixed message.
 */
export function toAppError(error: unknown): AppError {
  return error instanceof AppError ? error : new AppError("internal", "Internal error", { cause: error });
}

/** Throws the error, where only an expression fits. */
export function raise(error: AppError): never {
  throw error;
}
