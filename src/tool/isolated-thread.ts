import { pathToFileURL } from "node:url";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { partsOf, type ToolResultParts } from "../protocol/tool-result.ts";
import type { PermissionAsk, Tool, ToolContext } from "./define-tool.ts";
import { messageOf } from "./outcome.ts";
import { PermissionDenied } from "./permission-denied.ts";

// The thread in which one call of a tool with `isolate` runs.

export interface ThreadData {
  /** The tool's. */
  readonly file: string;
  /** As they stand in the config; checked again here, for what the check makes of them may not go into a thread. */
  readonly settings: unknown;
  readonly input: unknown;
  readonly context: Omit<ToolContext, "settings" | "signal" | "log" | "progress" | "ask">;
}

export type ToThread =
  | { readonly type: "abort"; readonly why: string }
  | { readonly type: "answered"; readonly id: number; readonly refusal?: string };

export type FromThread =
  | { readonly type: "log"; readonly line: string }
  | { readonly type: "progress"; readonly fraction: number }
  | { readonly type: "ask"; readonly id: number; readonly request: PermissionAsk }
  /** `parts` of what `toolResult` made: its mark would not come through. */
  | { readonly type: "done"; readonly value?: unknown; readonly parts?: ToolResultParts }
  | { readonly type: "failed"; readonly message: string; readonly isDenied: boolean };

if (!isMainThread && parentPort) await runHere(parentPort, workerData as ThreadData);

async function runHere(port: NonNullable<typeof parentPort>, data: ThreadData): Promise<void> {
  const { file, settings, input, context } = data;
  const send = (message: FromThread) => port.postMessage(message);
  const stop = new AbortController();
  const asked = new Map<number, PromiseWithResolvers<void>>();
  port.on("message", (message: ToThread) => {
    if (message.type === "abort") return stop.abort(new Error(message.why));
    const { id, refusal } = message;
    if (refusal === undefined) asked.get(id)?.resolve();
    else asked.get(id)?.reject(new PermissionDenied(refusal));
    asked.delete(id);
  });
  const ask = (request: PermissionAsk): Promise<void> => {
    const answer = Promise.withResolvers<void>();
    // A tool that does not wait for it must not end the thread.
    answer.promise.catch(() => {});
    const id = asked.size === 0 ? 1 : Math.max(...asked.keys()) + 1;
    asked.set(id, answer);
    send({ type: "ask", id, request });
    return answer.promise;
  };
  try {
    const { default: tool } = (await import(pathToFileURL(file).href)) as { readonly default: Tool };
    const own = {
      ...context,
      settings: tool.settings?.parse(settings),
      signal: stop.signal,
      log: (line: string) => send({ type: "log", line: String(line) }),
      progress: (fraction: number) => send({ type: "progress", fraction }),
      ask,
    };
    const value = await tool.run?.(input as never, own as never);
    const parts = partsOf(value);
    send({ type: "done", ...(parts ? { parts } : { value }) });
  } catch (error) {
    send({ type: "failed", message: messageOf(error), isDenied: error instanceof PermissionDenied });
  }
}
