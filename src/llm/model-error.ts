import { APIConnectionError, APIError } from "@anthropic-ai/sdk";
import { AppError, type ErrorCode } from "../errors/app-error.ts";
import { isRecord } from "../lib/json.ts";

/** What failed, and whether the same request may succeed later. docs/errors.md has them all. */
export const MODEL_ERROR_KINDS = {
  authentication: { code: "not_allowed", retryable: false },
  permission: { code: "not_allowed", retryable: false },
  billing: { code: "not_allowed", retryable: false },
  not_found: { code: "invalid_state", retryable: false },
  invalid_request: { code: "invalid_state", retryable: false },
  /** More than the API accepts in one request, or than the model's context holds. */
  too_large: { code: "too_large", retryable: false },
  /** Thinking is accepted only after exactly what stood before it, and something of that has changed. */
  unbound_thinking: { code: "invalid_state", retryable: false },
  /** A picture or document that the API cannot read, or that is one too many. */
  refused_media: { code: "invalid_state", retryable: false },
  rate_limited: { code: "unavailable", retryable: true },
  overloaded: { code: "unavailable", retryable: true },
  server_error: { code: "unavailable", retryable: true },
  connection: { code: "unavailable", retryable: true },
  stalled: { code: "unavailable", retryable: true },
  broken_stream: { code: "unavailable", retryable: true },
  /** The answer is larger, or takes longer, than any that was asked for. */
  endless_stream: { code: "unavailable", retryable: false },
} as const satisfies Record<string, { code: ErrorCode; retryable: boolean }>;

export type ModelErrorKind = keyof typeof MODEL_ERROR_KINDS;

const ABOUT_THE_ACCOUNT: readonly ModelErrorKind[] = ["authentication", "permission", "billing", "not_found"];

const KIND_OF_TYPE: Readonly<Record<string, ModelErrorKind>> = {
  authentication_error: "authentication",
  permission_error: "permission",
  billing_error: "billing",
  not_found_error: "not_found",
  invalid_request_error: "invalid_request",
  request_too_large: "too_large",
  rate_limit_error: "rate_limited",
  overloaded_error: "overloaded",
  api_error: "server_error",
  timeout_error: "server_error",
};

const KIND_OF_STATUS: Readonly<Record<number, ModelErrorKind>> = {
  401: "authentication",
  402: "billing",
  403: "permission",
  404: "not_found",
  408: "server_error",
  409: "server_error",
  413: "too_large",
  429: "rate_limited",
  529: "overloaded",
};

interface ModelErrorDetails extends ErrorOptions {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** How long the API asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** @defaultValue the kind's own */
  readonly retryable?: boolean | undefined;
  readonly refusedTool?: RefusedTool | undefined;
  readonly apiMessage?: string | undefined;
}

/** The tool for which the API refuses a whole request. */
export interface RefusedTool {
  /** Its place in the request's `tools`, or in the content of a message that tells of it. */
  readonly index: number;
  readonly message?: number;
  /** The part that is refused, such as `input_schema.properties`. */
  readonly field: string;
}

/**
 * A model call that gave no complete message. Its text has kind and HTTP status only: the API's words are in `cause`.
 */
export class ModelError extends AppError {
  readonly kind: ModelErrorKind;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly refusedTool: RefusedTool | undefined;
  /** The API's words, where they are about the account or the model, and so quote nothing that was said. */
  readonly apiMessage: string | undefined;

  constructor(kind: ModelErrorKind, details: ModelErrorDetails = {}) {
    const status = details.status === undefined ? "" : ` (HTTP ${details.status})`;
    super(
      MODEL_ERROR_KINDS[kind].code,
      `The model call failed: ${kind}${status}`,
      "cause" in details ? { cause: details.cause } : {},
    );
    this.kind = kind;
    this.retryable = details.retryable ?? MODEL_ERROR_KINDS[kind].retryable;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
    this.refusedTool = details.refusedTool;
    this.apiMessage = details.apiMessage;
  }
}

/** Sorts an error of the SDK. `otherwise` is the kind of an error without a status or an API type. */
export function toModelError(error: unknown, otherwise: "connection" | "broken_stream"): ModelError {
  if (error instanceof ModelError) return error;
  // No cause: a parser's message quotes the text.
  if (error instanceof SyntaxError) return new ModelError(otherwise);
  if (!(error instanceof APIError) || error instanceof APIConnectionError)
    return new ModelError(otherwise, { cause: error });
  const kind = kindOf(error) ?? otherwise;
  return new ModelError(kind, {
    cause: error,
    status: error.status,
    requestId: error.requestID ?? undefined,
    retryAfterMs: retryAfterMs(error.headers),
    refusedTool: refusedTool(error),
    apiMessage: ABOUT_THE_ACCOUNT.includes(kind) ? (error.apiMessage ?? undefined) : undefined,
    retryable: SHOULD_RETRY[error.headers?.get("x-should-retry") ?? ""],
  });
}

/** The `error` event of a stream. */
export function toStreamError(event: Record<string, unknown>): ModelError {
  const type = isRecord(event["error"]) ? event["error"]["type"] : undefined;
  return new ModelError((typeof type === "string" ? KIND_OF_TYPE[type] : undefined) ?? "broken_stream");
}

const SHOULD_RETRY: Readonly<Record<string, boolean>> = { true: true, false: false };

function kindOf({ status, type, apiMessage }: APIError): ModelErrorKind | undefined {
  // The API has no error types of its own for a history that outgrew the context or has changed, or for a picture.
  if (status === 400 && apiMessage?.includes("prompt is too long")) return "too_large";
  if (status === 400 && apiMessage?.includes("bound to a different conversation")) return "unbound_thinking";
  if (status === 400 && /\b(?:image|pdf)/iu.test(apiMessage ?? "")) return "refused_media";
  const byStatus = status === undefined ? undefined : KIND_OF_STATUS[status];
  if (byStatus !== undefined) return byStatus;
  const byType = type === null ? undefined : KIND_OF_TYPE[type];
  if (status === undefined) return byType;
  if (status < 500) return byType === undefined || byType === "server_error" ? "invalid_request" : byType;
  return byType ?? "server_error";
}

/**
 * The API begins its message with the place, as `tools.3.custom.input_schema: …`, or
 * `messages.2.content.0.tool_addition…`.
 */
function refusedTool({ status, apiMessage }: APIError): RefusedTool | undefined {
  const [, message, index, field = "definition"] =
    /^(?:messages\.(\d+)\.content\.|tools\.)(\d+)(?:\.tool_addition[\w.]*?\.definition)?(?:\.custom)?(?:\.([\w.$-]{1,200}))?:/.exec(
      apiMessage ?? "",
    ) ?? [];
  if (status !== 400 || index === undefined) return undefined;
  return { index: Number(index), field, ...(message !== undefined && { message: Number(message) }) };
}

function retryAfterMs(headers: Headers | undefined): number | undefined {
  const inMs = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (inMs >= 0) return inMs;
  const value = headers?.get("retry-after") ?? "";
  const waitMs = /^[\d.]+$/.test(value) ? Number.parseFloat(value) * 1000 : Date.parse(value) - Date.now();
  return waitMs >= 0 ? waitMs : undefined;
}
