import { pathToFileURL } from "node:url";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { cleanJson } from "../lib/clean-json.ts";
import type { JsonObject } from "../lib/json.ts";
import { unawaited } from "../lib/abortable.ts";
import type { Outcome } from "../conversation/call.ts";
import { changedFields, type FieldChanges } from "../conversation/state/state-change.ts";
import { LIMITS } from "../protocol/limits.ts";
import { partsOf, type ToolResultParts } from "../protocol/tool-result.ts";
import { CALL_LOG, CallLog } from "./calls/call-log.ts";
import type { Elicitation, Elicited, PermissionAsk, Tool, ToolContext } from "./define-tool.ts";
import { messageOf } from "./outcome.ts";
import { PermissionDenied } from "./permission-denied.ts";
import { readBounded } from "./results/read-bounded.ts";
import { readReturned } from "./results/read-result.ts";
import { createStateAccess, updatedState } from "./state/update-state.ts";

// The thread in which one call of a tool with `isolate` runs. It limits what it sends, because the main thread must
// handle every message. Without limits, a tool that logs in a loop or returns too much would block all sessions of its
// process.

const MAX_UNREAD_PROGRESS = 100;

export interface ThreadData {
  /** The path of the tool's file. */
  readonly file: string;
  /**
   * The settings as written in the config. They are validated again here, because validated settings may not be
   * sendable to a thread.
   */
  readonly settings: unknown;
  readonly input: unknown;
  /** An array with one element, which counts the progress messages that the main thread has read. */
  readonly progressRead: Int32Array<SharedArrayBuffer>;
  readonly context: Omit<ToolContext, "settings" | "signal" | "log" | "progress" | "ask" | "elicit" | "session">;
  /** The session's state when the call began. */
  readonly state: JsonObject;
}

export type ToThread =
  | { readonly type: "abort"; readonly why: string }
  | { readonly type: "answered"; readonly id: number; readonly form?: Elicited }
  | { readonly type: "refused"; readonly id: number; readonly message: string; readonly isDenied: boolean };

export type FromThread =
  | { readonly type: "log"; readonly line: string }
  | { readonly type: "progress"; readonly fraction: number }
  | { readonly type: "ask"; readonly id: number; readonly request: PermissionAsk }
  | { readonly type: "elicit"; readonly id: number; readonly message: string; readonly schema: JsonObject }
  /** `parts` are those of a `toolResult`, whose symbol would be lost in transit. */
  | {
      readonly type: "done";
      readonly value?: unknown;
      readonly parts?: ToolResultParts;
      /** How the tool has changed the session's state. */
      readonly changed: FieldChanges;
    }
  | { readonly type: "unusable"; readonly outcome: Outcome }
  | { readonly type: "failed"; readonly thrown: Thrown; readonly isDenied: boolean };

/**
 * The value that the tool threw. An error's class would be lost in transit. A thrown value that is not an error has
 * only a message.
 */
export interface Thrown {
  readonly message: string;
  readonly name?: string;
  /** Such as `ENOENT`. */
  readonly code?: string | undefined;
  readonly stack?: string | undefined;
  readonly cause?: Thrown | undefined;
}

type Send = (message: FromThread) => void;

/** How many nested causes of an error are sent. */
const MAX_CAUSES = 3;

async function runHere(port: NonNullable<typeof parentPort>, data: ThreadData): Promise<void> {
  const { file, settings, input, progressRead, context } = data;
  const send: Send = (message) => port.postMessage(message);
  const stop = new AbortController();
  const questions = new Questions(send);
  port.on("message", (message: ToThread) => {
    if (message.type === "abort") stop.abort(new Error(message.why));
    else questions.settle(message);
  });
  let { state } = data;
  const session = createStateAccess(
    () => state,
    (update) => (state = updatedState(state, update, undefined)),
  );
  try {
    const { default: tool } = (await import(pathToFileURL(file).href)) as { readonly default: Tool };
    const own = {
      ...context,
      session,
      settings: tool.settings?.parse(settings),
      signal: stop.signal,
      log: createLog(send),
      progress: createProgress(send, progressRead),
      // A rejection that the tool does not await must not end the thread.
      ask: (request: PermissionAsk) => unawaited(questions.ask(request)),
      elicit: <Content>(request: Elicitation<Content>) => unawaited(questions.elicit(request)),
    };
    const value = await tool.run?.(input as never, own as never);
    const { outcome } = readReturned(value);
    if (outcome.state !== "success") return send({ type: "unusable", outcome });
    // Sends what was read, which is within the limits. The value itself may contain more, such as the rest of a buffer.
    const parts = partsOf(value);
    const changed = changedFields(data.state, state);
    if (parts) send({ type: "done", parts: cleanJson(parts) as ToolResultParts, changed });
    else send({ type: "done", value: outcome.result, changed });
  } catch (error) {
    send({ type: "failed", thrown: toThrown(error), isDenied: error instanceof PermissionDenied });
  }
}

/** Sends only lines that the call's log has room for. */
function createLog(send: Send): ToolContext["log"] {
  const kept = new CallLog();
  return (value) => {
    const line = String(value).slice(0, 2 * CALL_LOG.bytes);
    if (kept.add(line)) send({ type: "log", line });
  };
}

/** Drops reports while the main thread has not yet read the last `MAX_UNREAD_PROGRESS` of them. */
function createProgress(send: Send, progressRead: ThreadData["progressRead"]): ToolContext["progress"] {
  let sent = 0;
  return (fraction) => {
    if (sent - Atomics.load(progressRead, 0) >= MAX_UNREAD_PROGRESS) return;
    sent += 1;
    send({ type: "progress", fraction });
  };
}

/** The tool's open questions to the main thread, which asks the participant. */
class Questions {
  readonly #send: Send;
  readonly #waiting = new Map<number, PromiseWithResolvers<Elicited | undefined>>();

  constructor(send: Send) {
    this.#send = send;
  }

  async ask(asked: PermissionAsk): Promise<void> {
    const request = sendable(asked, "ask");
    await this.#wait((id) => ({ type: "ask", id, request }));
  }

  /** A zod schema cannot be sent, so accepted content is parsed with it here. */
  async elicit<Content>({ message, schema }: Elicitation<Content>): Promise<Elicited<Content>> {
    const { compileForm } = await import("./form-schema.ts");
    const form = compileForm(schema).schema;
    const request = sendable({ message, schema: form.jsonSchema }, "elicit");
    const answer = await this.#wait((id) => ({ type: "elicit", id, ...request }));
    if (answer?.action !== "accept") return answer ?? { action: "cancel" };
    return { action: "accept", content: form.parse(answer.content) as Content };
  }

  settle(message: Exclude<ToThread, { type: "abort" }>): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.type === "answered") waiting?.resolve(message.form);
    else waiting?.reject(message.isDenied ? new PermissionDenied(message.message) : new Error(message.message));
  }

  #wait(toQuestion: (id: number) => FromThread): Promise<Elicited | undefined> {
    const answer = Promise.withResolvers<Elicited | undefined>();
    const id = this.#waiting.size === 0 ? 1 : Math.max(...this.#waiting.keys()) + 1;
    this.#waiting.set(id, answer);
    this.#send(toQuestion(id));
    return answer.promise;
  }
}

function toThrown(error: unknown, causes = 0): Thrown {
  const message = messageOf(error).slice(0, LIMITS.shortTextBytes);
  if (!(error instanceof Error)) return { message };
  const { name, stack, cause, code } = error as NodeJS.ErrnoException;
  return {
    message,
    name: name.slice(0, LIMITS.shortTextBytes),
    code: typeof code === "string" ? code.slice(0, LIMITS.shortTextBytes) : undefined,
    stack: stack?.slice(0, LIMITS.shortTextBytes),
    cause: cause === undefined || causes === MAX_CAUSES ? undefined : toThrown(cause, causes + 1),
  };
}

/** @throws {Error} naming the place and the limit, if the value exceeds a limit for JSON */
function sendable<Value>(value: Value, name: string): Value {
  const read = readBounded(value, name);
  if ("fault" in read) throw new Error(read.fault);
  return read.value as Value;
}

if (!isMainThread && parentPort) await runHere(parentPort, workerData as ThreadData);
