import { ModelError, type ModelErrorKind } from "./model-error.ts";
import type { Model } from "./stream-message.ts";

/** Why the model's API did not answer a call. Contains no conversation content. */
export interface ModelRefusal {
  readonly kind: ModelErrorKind;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** The API's own words. */
  readonly apiMessage: string | undefined;
  /** Why there was no connection, such as `ECONNREFUSED`. */
  readonly networkCode: string | undefined;
}

/** The result of a model call. */
export interface ModelCallReport {
  readonly model: string;
  /** Absent if the model answered. */
  readonly refusal?: ModelRefusal;
}

/** Failures that are caused by one conversation or one answer. The model answers other calls. */
const NOT_REFUSALS: ReadonlySet<ModelErrorKind> = new Set([
  "too_large",
  "unbound_thinking",
  "refused_media",
  "broken_stream",
  "endless_stream",
]);

/** Whether the API refused a call, or could not be reached, for a reason that may affect every call. */
export function isRefusal(error: unknown): error is ModelError {
  return error instanceof ModelError && !NOT_REFUSALS.has(error.kind);
}

/** Wraps a model so that `onCall` receives the result of each call. */
export function watchModel(model: Model, onCall: (report: ModelCallReport) => void): Model {
  return {
    ...model,
    async *stream(request, signal) {
      let isSilent = false;
      try {
        for await (const event of model.stream(request, signal)) {
          isSilent = event.type === "retry" && event.reason === ("stalled" satisfies ModelErrorKind);
          yield event;
          if (event.type === "message_stop") onCall({ model: request.model });
        }
      } catch (error) {
        isSilent = false;
        if (isRefusal(error)) onCall({ model: request.model, refusal: toRefusal(error) });
        throw error;
      } finally {
        // A model that has been silent once is not called again if another one can answer.
        if (isSilent) onCall({ model: request.model, refusal: toRefusal(new ModelError("stalled")) });
      }
    },
  };
}

function toRefusal(error: ModelError): ModelRefusal {
  const { kind, status, requestId, apiMessage } = error;
  return { kind, status, requestId, apiMessage, networkCode: networkCodeOf(error.cause) };
}

function networkCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return "code" in error && typeof error.code === "string" ? error.code : networkCodeOf(error.cause);
}
