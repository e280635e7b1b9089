import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { type EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { getDefaultEnvironment } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ErrorCode, type JSONRPCMessage, McpError } from "@modelcontextprotocol/sdk/types.js";
import { ProcessGroupReaper, killGroup } from "../process-group-reaper.ts";
import type { StdioServerConfig } from "./mcp-config.ts";

/** How long to wait for the process to exit: after its input is closed, after a failed write, and after SIGTERM. */
const GRACE_MS = 2_000;

interface StdioOptions {
  readonly maxMessageBytes: number;
  /** Receives what the process writes to stderr, in pieces. */
  readonly onStderr: (text: string) => void;
}

/**
 * The transport to a server that runs as a process and leads a process group. The processes that the server starts end
 * with the server, and the whole group ends when our process ends, for any reason. The SDK's own transport ends only
 * the server's process.
 */
export class StdioTransport implements Transport {
  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  onmessage: Transport["onmessage"];
  readonly #config: StdioServerConfig;
  readonly #onStderr: StdioOptions["onStderr"];
  readonly #received: ReadBuffer;
  #process: ChildProcessWithoutNullStreams | undefined;

  constructor(config: StdioServerConfig, { maxMessageBytes, onStderr }: StdioOptions) {
    this.#config = config;
    this.#onStderr = onStderr;
    this.#received = new ReadBuffer({ maxBufferSize: maxMessageBytes });
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#config;
    const reaper = new ProcessGroupReaper();
    const child = spawn(command, args, { env: { ...getDefaultEnvironment(), ...env }, cwd, detached: true });
    reaper.watch(child.pid);
    this.#process = child;
    const sources: EventEmitter[] = [child, child.stdin, child.stdout];
    for (const source of sources) source.on("error", (error) => this.onerror?.(error));
    child.stderr.on("data", (chunk: Buffer) => this.#onStderr(chunk.toString()));
    child.stdout.on("data", (chunk: Buffer) => this.#take(chunk));
    child.once("exit", () => {
      killGroup(child.pid, "SIGKILL");
      reaper.end();
    });
    child.once("close", () => {
      this.#process = undefined;
      this.onclose?.();
    });
    await once(child, "spawn");
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#process;
    if (!child) throw closed();
    if (child.stdin.write(serializeMessage(message))) return;
    try {
      await once(child.stdin, "drain");
    } catch (error) {
      // A process that exits refuses input (EPIPE) before Node reports the exit. On `close`, all of its stderr has been
      // read.
      await Promise.race([once(child, "close"), sleep(GRACE_MS, undefined, { ref: false })]);
      throw closed(error);
    }
  }

  async close(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    this.#received.clear();
    if (!child) return;
    const { promise: closed, resolve } = Promise.withResolvers<boolean>();
    child.once("close", () => resolve(true));
    child.stdin.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await Promise.race([closed, sleep(GRACE_MS, false, { ref: false })])) return;
      killGroup(child.pid, signal);
    }
  }

  /** Skips messages that cannot be read. Closes the transport if a message is too large. */
  #take(chunk: Buffer): void {
    try {
      this.#received.append(chunk);
    } catch (error) {
      this.onerror?.(error as Error);
      void this.close();
    }
    for (;;) {
      try {
        const message = this.#received.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(error as Error);
      }
    }
  }
}

/**
 * Returns the error that the SDK uses for open requests. Otherwise, a notification would fail with the system's error,
 * such as EPIPE.
 */
function closed(cause?: unknown): McpError {
  return Object.assign(new McpError(ErrorCode.ConnectionClosed, "Connection closed"), { cause });
}
