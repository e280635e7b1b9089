import { type Progress } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { type JsonObject, isRecord } from "../../lib/json.ts";
import { type ToolContext } from "../define-tool.ts";
import { type Connection, callErrorText } from "./connection.ts";

/** The most that a timer takes: the call's own deadline ends the request, by its signal. */
const NO_TIMEOUT_MS = 2_147_483_647;
const MAX_PROGRESS_LINES = 100;
const MAX_LINE_LENGTH = 500;

/** Looser than the SDK's: content of a kind that it does not know costs that block only. */
const resultSchema = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.record(z.string(), z.unknown()).nullish(),
  isError: z.boolean().nullish(),
});

interface McpCall {
  /** The server's name in the config. */
  readonly server: string;
  /** The tool's own name, as the server gave it. */
  readonly tool: string;
  readonly input: unknown;
  readonly context: Pick<ToolContext, "signal" | "callId" | "log" | "progress" | "traceHeaders">;
}

/**
 * Calls the tool and gives its value. When the signal aborts, the server gets a cancellation.
 *
 * @throws the signal's reason, or an error in the server's own words
 */
export async function callTool(connection: Connection, { server, tool, input, context }: McpCall): Promise<unknown> {
  const { signal, callId, traceHeaders } = context;
  signal.throwIfAborted();
  // The SDK listens on its signal for good, and would send a cancellation when the call, long answered, is "over".
  const request = new AbortController();
  const onAbort = () => request.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const _meta = { progressToken: callId, ...traceHeaders };
    const params = { name: tool, arguments: input as JsonObject, _meta };
    const options = { signal: request.signal, timeout: NO_TIMEOUT_MS };
    const answer = await connection.withProgress(callId, toProgress(context), () =>
      connection.client.request({ method: "tools/call", params }, resultSchema, options),
    );
    return toToolValue(answer);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolError) throw error;
    connection.check();
    throw new Error(callErrorText(server, error), { cause: error });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** A server's progress as log lines, and as a fraction where it says how much there is in all. */
function toProgress(context: Pick<ToolContext, "log" | "progress">): (progress: Progress) => void {
  let lines = 0;
  return ({ progress, total, message }) => {
    if (total !== undefined && total > 0) context.progress(progress / total);
    if (lines++ >= MAX_PROGRESS_LINES) return;
    const count = total === undefined ? `${progress}` : `${progress}/${total}`;
    context.log(`progress ${count}${message === undefined ? "" : `: ${message.slice(0, MAX_LINE_LENGTH)}`}`);
  };
}

/** The tool itself says that it failed; the text is its own. */
class ToolError extends Error {}

interface ToolAnswer {
  readonly content: readonly unknown[];
  readonly structuredContent?: Record<string, unknown> | null | undefined;
  readonly isError?: boolean | null | undefined;
}

/**
 * What a tool of ours would have returned: the structured content if there is one, else the texts. What is no text is
 * named only: neither a voice nor the record has use for an image's bytes.
 *
 * @throws {ToolError} for a result that is marked as an error
 */
function toToolValue({ content, structuredContent, isError }: ToolAnswer): unknown {
  const text = content.map(blockText).join("\n");
  if (isError === true) {
    const details = !structuredContent ? "" : JSON.stringify(structuredContent);
    throw new ToolError(text || details || "The tool failed without a message");
  }
  return structuredContent ?? (content.length > 0 ? text : undefined);
}

function blockText(block: unknown): string {
  if (!isRecord(block)) return "[unreadable]";
  const { type, text, data, mimeType, uri, resource } = block;
  if (type === "text" && typeof text === "string") return text;
  if (type === "resource" && isRecord(resource)) return named("resource", resource["uri"], resource["mimeType"]);
  if (type === "resource_link") return named("resource", uri, mimeType);
  const bytes = typeof data === "string" ? `${Buffer.byteLength(data, "base64")} bytes` : undefined;
  return named(typeof type === "string" ? type : "unreadable", mimeType, bytes);
}

function named(kind: string, ...details: readonly unknown[]): string {
  const known = details.filter((detail) => typeof detail === "string").map((detail) => detail.slice(0, 200));
  return `[${[kind, ...known].join(" ")}]`;
}
