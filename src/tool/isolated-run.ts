import { Worker } from "node:worker_threads";
import type { State } from "../conversation/state/session-state.ts";
import { setFields, type FieldChanges } from "../conversation/state/state-change.ts";
import { isRecord, type JsonObject } from "../lib/json.ts";
import { siblingModuleUrl } from "../lib/sibling-module-url.ts";
import { toolResult } from "../protocol/tool-result.ts";
import type { ToolContext } from "./define-tool.ts";
import type { FromThread, ThreadData, Thrown, ToThread } from "./isolated-thread.ts";
import { messageOf } from "./outcome.ts";
import { PermissionDenied } from "./permission-denied.ts";
import { UnusableResult } from "./results/read-result.ts";
import type { ServerTool } from "./server-tool.ts";

const MEMORY_LIMIT_MB = 256;
/** How often the size of the thread's buffers is checked. V8 limits only the thread's heap. */
const READ_BUFFERS_MS = 250;
/** How long an aborted tool may clean up. */
const ABORT_GRACE_MS = 1_000;
const THREAD = siblingModuleUrl(import.meta.url, "isolated-thread");

/**
 * Returns the `run` function of a tool with `isolate`. It runs each call in a separate thread, which is terminated when
 * the call is over. So a long computation does not block other sessions, and a call that uses too much memory is ended.
 */
export function runIsolated(tool: Pick<ThreadData, "file" | "settings">): NonNullable<ServerTool["run"]> {
  return async (input, { signal, log, progress, ask, elicit, session, ...context }) => {
    const end = Promise.withResolvers<ThreadEnd>();
    const progressRead = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const state = session.get() as JsonObject;
    const workerData: ThreadData = { ...tool, input, progressRead, context, state };
    const thread = new Worker(THREAD, { workerData, resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB } });
    const memoryChecks = checkBuffers(thread, end.reject);
    const send = (message: ToThread) => thread.postMessage(message);
    const report = (fraction: number) => {
      Atomics.add(progressRead, 0, 1);
      progress(fraction);
    };
    const ports = { end, send, log, progress: report, ask, elicit };
    thread.on("message", (message: unknown) => {
      // A package that the tool uses may send its own messages from the thread.
      if (isRecord(message)) handle(message as FromThread, ports);
    });
    thread.on("error", (error: NodeJS.ErrnoException) => end.reject(toThreadError(error)));
    thread.on("exit", () => end.reject(new Error("The tool exited its worker thread")));
    let late: NodeJS.Timeout | undefined;
    const onAbort = () => {
      send({ type: "abort", why: messageOf(signal.reason) });
      late = setTimeout(() => void thread.terminate(), ABORT_GRACE_MS);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const { changed, value } = await end.promise;
      // Only the changed fields are set, because other calls may have changed the rest meanwhile.
      if (Object.keys(changed).length > 0)
        session.update((now) => setFields(now as JsonObject, changed, "after") as State);
      return value;
    } finally {
      signal.removeEventListener("abort", onAbort);
      clearTimeout(late);
      clearInterval(memoryChecks);
      void thread.terminate();
    }
  };
}

/** Checks the size of the thread's buffers at intervals. The caller clears the returned interval. */
function checkBuffers(thread: Worker, onTooLarge: (error: Error) => void): NodeJS.Timeout {
  return setInterval(() => {
    thread.getHeapStatistics().then(
      ({ external_memory: bytes }) => {
        if (bytes > MEMORY_LIMIT_MB * 2 ** 20) onTooLarge(tooLarge());
      },
      () => {},
    );
  }, READ_BUFFERS_MS);
}

/** Restores the value that the tool threw, with the stack from the tool's own file, which its author needs. */
function fromThrown({ message, name, code, stack, cause }: Thrown): unknown {
  if (name === undefined) return message;
  const error = new Error(message, cause && { cause: fromThrown(cause) });
  return Object.assign(error, { name, stack }, code !== undefined && { code });
}

function toThreadError(error: NodeJS.ErrnoException): Error {
  return error.code === "ERR_WORKER_OUT_OF_MEMORY" ? tooLarge(error) : error;
}

function tooLarge(cause?: Error): Error {
  return new Error(`The tool used more than ${MEMORY_LIMIT_MB} MB of memory`, { cause });
}

/** What the tool returned, and how it changed the session's state. */
interface ThreadEnd {
  readonly value: unknown;
  readonly changed: FieldChanges;
}

interface Ports extends Pick<ToolContext, "log" | "progress" | "ask" | "elicit"> {
  readonly end: PromiseWithResolvers<ThreadEnd>;
  readonly send: (message: ToThread) => void;
}

function handle(message: FromThread, { end, send, log, progress, ask, elicit }: Ports): void {
  const refuse = (id: number) => (error: unknown) =>
    send({ type: "refused", id, message: messageOf(error), isDenied: error instanceof PermissionDenied });
  switch (message.type) {
    case "log":
      return log(message.line);
    case "progress":
      return progress(message.fraction);
    case "ask": {
      const { id, request } = message;
      ask(request).then(() => send({ type: "answered", id }), refuse(id));
      return;
    }
    case "elicit": {
      const { id, ...request } = message;
      elicit(request).then((form) => send({ type: "answered", id, form }), refuse(id));
      return;
    }
    case "unusable":
      return end.resolve({ value: new UnusableResult(message.outcome), changed: {} });
    case "done":
      return end.resolve({
        value: message.parts ? toolResult(message.parts) : message.value,
        changed: message.changed,
      });
    case "failed":
      return end.reject(message.isDenied ? new PermissionDenied(message.thrown.message) : fromThrown(message.thrown));
  }
}
