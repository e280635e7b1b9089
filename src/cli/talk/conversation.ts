import type { Parley } from "../../client/index.ts";
import { isRecord } from "../../lib/json.ts";
import type { TalkEvent } from "./printer.ts";

/** Calls `emit` for each event of the session. Returns a function that unsubscribes. */
export function watch(parley: Parley, emit: (event: TalkEvent) => void): () => void {
  let isLost = false;
  /** Titles of open permission requests, by id. */
  const titles = new Map<string, string>();
  const offs = [
    parley.on("answer_start", ({ id, previousId }) => emit({ event: "answer_start", id, previousId })),
    parley.on("tool_call", (call) => emit({ event: "tool_call", ...call })),
    parley.on("tool_result", (result) => emit({ event: "tool_result", ...result })),
    parley.on("sentence", ({ sequence, text, isFinal }) => emit({ event: "sentence", sequence, text, isFinal })),
    parley.on("transcription", ({ text, final }) => emit({ event: "transcription", text, final })),
    parley.on("answer_end", ({ id, previousId, text }) => emit({ event: "turn_end", id, previousId, text })),
    parley.on("permission_request", ({ id, title, metadataJson }) => {
      titles.set(id, title);
      emit({ event: "permission_request", id, title, input: readInput(metadataJson) });
    }),
    parley.on("permission_closed", ({ id, state }) => {
      emit({ event: "permission_closed", id, state, title: titles.get(id) ?? "" });
      titles.delete(id);
    }),
    parley.on("error", ({ code, message, originatingId }) => {
      emit({ event: "error", code, message, ...(originatingId !== undefined && { originatingId }) });
    }),
    parley.on("disconnected", ({ reason }) => {
      isLost = true;
      emit({ event: "disconnected", reason });
    }),
    parley.on("connected", () => {
      if (isLost) emit({ event: "connected" });
      isLost = false;
    }),
  ];
  return () => {
    for (const off of offs) off();
  };
}

/** Returns the call's arguments, or `undefined` if they were too long for the request. */
function readInput(metadataJson: string): unknown {
  try {
    const metadata: unknown = JSON.parse(metadataJson);
    return isRecord(metadata) ? metadata["input"] : undefined;
  } catch {
    return undefined;
  }
}
