import { APIConnectionError, APIError } from "@anthropic-ai/sdk";
import { AppError, type ErrorCode } from "../errors/app-error.ts";
import { isRecord } from "../lib/json.ts";

/** Why a model call failed, and whether the same request may succeed later. Listed in docs/errors.md. */
export const MODEL_ERROR_KINDS = {
  authentication: { code: "not_allowed", retryable: false },
  permission: { code: "not_allowed", retryable: false },
  billing: { code: "not_allowed", retryable: false },
  not_found: { code: "invalid_state", retryable: false },
  invalid_request: { code: "invalid_state", retryable: false },
  /** The request exceeds the API's size limit or the model's context. */
  too_large: { code: "too_large", retryable: false },
  /**
   * Something before a thinking block has changed, or another account or server wrote the block. The API accepts the
   * block only from where it was written, and only if everything before it is unchanged.
   */
  unbound_thinking: { code: "invalid_state", retryable: false },
  /** The API cannot read a picture or document, or the request contains too many. */
  refused_media: { code: "invalid_state", retryable: false },
  rate_limited: { code: "unavailable", retryable: true },
  overloaded: { code: "unavailable", retryable: true },
  server_error: { code: "unavailable", retryable: true },
  connection: { code: "unavailable", retryable: true },
  stalled: { code: "unavailable", retryable: true },
  broken_stream: { code: "unavailable", retryable: true },
  /** The answer exceeds the limit on its size or duration. */
  endless_stream: { code: "unavailable", retryable: false },
} as const satisfies Record<string, { code: ErrorCode; retryable: boolean }>;

export type ModelErrorKind = keyof typeof MODEL_ERROR_KINDS;

/** Failures that are caused by the request. Another model would most likely refuse it, too. */
const ABOUT_THE_REQUEST: ReadonlySet<ModelErrorKind> = new Set([
  "invalid_request",
  "too_large",
  "unbound_thinking",
  "refused_media",
  "endless_stream",
]);

/** Whether another model may answer the same request. */
export function mayAnswerElsewhere(error: unknown): error is ModelError {
  return error instanceof ModelError && !ABOUT_THE_REQUEST.has(error.kind);
}

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
  /** How long to wait before a retry, as requested by the API. */
  readonly retryAfterMs?: number | undefined;
  /** @defaultValue the value in `MODEL_ERROR_KINDS` */
  readonly retryable?: boolean | undefined;
  readonly refusedTool?: RefusedTool | undefined;
  readonly apiMessage?: string | undefined;
  readonly hasSuccessor?: boolean;
}

/** The tool that makes the API refuse a whole request. */
export interface RefusedTool {
  /** The tool's index in the request's `tools`, or, if `message` is set, in the content of that message. */
  readonly index: number;
  readonly message?: number;
  /** The invalid part of the tool, such as `input_schema.properties`. */
  readonly field: string;
}

/**
 * Thrown when a model call returns no complete message. The error's message contains only the kind and the HTTP status;
 * the API's own text is in `cause`.
 */
export class ModelError extends AppError {
  readonly kind: ModelErrorKind;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly refusedTool: RefusedTool | undefined;
  /**
   * The API's message, if it is about the account, the model or a parameter of the request. If it may quote the
   * conversation, only the path that it begins with, such as `messages.2.content.0`.
   */
  readonly apiMessage: string | undefined;
  /** Whether another model of the agent's list can continue the answer that was cut off. */
  readonly hasSuccessor: boolean;

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
    this.hasSuccessor = details.hasSuccessor ?? false;
  }
}

/** Converts an error from the SDK. `otherwise` is the kind for errors with neither a status nor an API type. */
export function toModelError(error: unknown, otherwise: "connection" | "broken_stream"): ModelError {
  if (error instanceof ModelError) return error;
  // No cause, because a parser's message quotes the content.
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
    apiMessage: wordsOf(kind, error.apiMessage ?? undefined),
    retryable: SHOULD_RETRY[error.headers?.get("x-should-retry") ?? ""],
  });
}

/** Matches messages that may be about, and quote, the conversation. */
const MAY_QUOTE = /\b(?:messages?|content|system|tools?|texts?|prompts?)\b/iu;

function wordsOf(kind: ModelErrorKind, message: string | undefined): string | undefined {
  if (message === undefined || ABOUT_THE_ACCOUNT.includes(kind)) return message;
  if (kind !== "invalid_request") return undefined;
  return MAY_QUOTE.test(message) ? /^[\w.[\]-]{1,200}(?=:)/u.exec(message)?.[0] : message;
}

/** Converts a stream's `error` event. */
export function toStreamError(event: Record<string, unknown>): ModelError {
  const type = isRecord(event["error"]) ? event["error"]["type"] : undefined;
  return new ModelError((typeof type === "string" ? KIND_OF_TYPE[type] : undefined) ?? "broken_stream");
}

const SHOULD_RETRY: Readonly<Record<string, boolean>> = { true: true, false: false };

function kindOf({ status, type, apiMessage }: APIError): ModelErrorKind | undefined {
  // The API has no separate error types for an account's limits, a history that is too long, a history that has
  // changed, or a bad picture.
  if (status === 400 && /\b(?:credit balance|usage limits)\b/u.test(apiMessage ?? "")) return "billing";
  if (status === 400 && apiMessage?.includes("prompt is too long")) return "too_large";
  if (status === 400 && apiMessage?.includes("Invalid `signature` in `thinking` block")) return "unbound_thinking";
  if (status === 400 && /\b(?:image|pdf)/iu.test(apiMessage ?? "")) return "refused_media";
  const byStatus = status === undefined ? undefined : KIND_OF_STATUS[status];
  if (byStatus !== undefined) return byStatus;
  const byType = type === null ? undefined : KIND_OF_TYPE[type];
  if (status === undefined) return byType;
  if (status < 500) return byType === undefined || byType === "server_error" ? "invalid_request" : byType;
  return byType ?? "server_error";
}

/**
 * Returns the tool that the API refused. The API's message begins with the tool's path, such as
 * `tools.3.custom.input_schema: …` or `messages.2.content.0.tool_addition…`.
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
