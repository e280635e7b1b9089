import { type ToolCallRecord } from "../../store/calls/tool-call-record.ts";
import { type Outcome } from "../../tool/outcome.ts";

/** How a stored call ended; `undefined` while it is open. */
export function toOutcome({ state, result, errorCode, errorMessage }: ToolCallRecord): Outcome | undefined {
  if (state === "success") return { state, result: result ?? {} };
  if (state !== "error" && state !== "cancelled") return undefined;
  const failure = { state, errorCode: errorCode ?? "execution_error", errorMessage: errorMessage ?? "" };
  return result ? { ...failure, result } : failure;
}
