import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { type JsonObject, isRecord } from "../../lib/json.ts";
import { toolResult, type ResultBlock } from "../../protocol/tool-result.ts";
import type { ToolContext } from "../define-tool.ts";
import { mediaTypeOf } from "../results/media-type.ts";
import { readParts } from "../results/read-result.ts";
import { type Connection, callErrorText } from "./connection.ts";

/**
 * The timeout of a request: the longest time that a timer supports. The call's signal ends the request earlier, at the
 * call's own deadline.
 */
const NO_TIMEOUT_MS = 2_147_483_647;
const MAX_PROGRESS_LINES = 100;
const MAX_LINE_LENGTH = 500;
/**
 * How many blocks of a result are read. Further blocks are only counted: a 10 MB message may contain millions of
 * blocks, and each takes time.
 */
const MAX_BLOCKS = 1_000;

/**
 * The schema of an answer. It is looser than the SDK's: an unreadable part does not make the rest unusable.
 * `toolResult` is part of the protocol's first version.
 */
const resultSchema = z.looseObject({
  content: z.array(z.unknown()).catch([]),
  structuredContent: z.unknown().optional(),
  toolResult: z.unknown().optional(),
  isError: z.boolean().nullish().catch(undefined),
});
/**
 * The maximum length of a base64 string. A longer string counts as a file. The model cannot read it, and it would fill
 * the context window.
 */
const MAX_BASE64_LENGTH = 1_000;
const BASE64 = /^(?:data:[^,]{0,200},)?[A-Za-z0-9+/_-]+={0,2}$/u;

interface McpCall {
  /** The server's name in the config. */
  readonly server: string;
  /** The tool's own name, as the server listed it. */
  readonly tool: string;
  readonly input: unknown;
  readonly context: Pick<ToolContext, "signal" | "callId" | "log" | "progress" | "traceHeaders" | "elicit">;
}

/** Thrown if the server does not know the session in which a call was sent. The server did not run the call. */
export class UnknownSessionError extends Error {}

/**
 * Calls the tool and resolves with its value. If the signal aborts, the server receives a cancellation.
 *
 * @throws {UnknownSessionError} after giving up the connection; the call may be sent again on the next connection
 */
export async function callTool(connection: Connection, { server, tool, input, context }: McpCall): Promise<unknown> {
  const { signal, callId, traceHeaders, elicit } = context;
  signal.throwIfAborted();
  // The SDK never removes its listener from a signal. If it listened to the call's own signal, it would cancel calls
  // that were already answered.
  const request = new AbortController();
  const onAbort = () => request.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const _meta = { progressToken: callId, ...traceHeaders };
    const params = { name: tool, arguments: input as JsonObject, _meta };
    const options = { signal: request.signal, timeout: NO_TIMEOUT_MS };
    const answer = await connection.withCall(callId, { onProgress: toProgress(context), elicit }, () =>
      connection.client.request({ method: "tools/call", params }, resultSchema, options),
    );
    return toToolValue(answer);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolError) throw error;
    if (connection.isSessionUnknown(error)) {
      connection.giveUp();
      throw new UnknownSessionError(`MCP server "${server}" does not know the session (HTTP 404)`, { cause: error });
    }
    connection.check();
    throw new Error(callErrorText(server, error), { cause: error });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Turns a server's progress into log lines, and into a fraction if the server sends a total. */
function toProgress(context: Pick<ToolContext, "log" | "progress">): (progress: Progress) => void {
  let lines = 0;
  return ({ progress, total, message }) => {
    if (total !== undefined && total > 0) context.progress(progress / total);
    if (lines++ >= MAX_PROGRESS_LINES) return;
    const count = total === undefined ? `${progress}` : `${progress}/${total}`;
    context.log(`progress ${count}${message === undefined ? "" : `: ${message.slice(0, MAX_LINE_LENGTH)}`}`);
  };
}

/** The tool's own report that it failed. */
class ToolError extends Error {}

type ToolAnswer = z.output<typeof resultSchema>;

/**
 * Returns the value in the form that our own tools use: the structured content with any further text from the blocks,
 * or only the blocks' text if there is no structured content. Pictures are shown to the model if possible; other files
 * are only named.
 *
 * @throws {ToolError} for a result that is marked as an error
 */
function toToolValue({ content: all, structuredContent: current, toolResult: old, isError }: ToolAnswer): unknown {
  const given = current ?? (all.length === 0 ? old : undefined);
  const structuredContent = toStructured(given, all);
  const more = all.length > MAX_BLOCKS ? [{ type: "text", text: `[${all.length - MAX_BLOCKS} more blocks]` }] : [];
  const first = all.slice(0, MAX_BLOCKS);
  const repeated = structuredContent ? textsOf(given) : undefined;
  const content = [...first.filter((block) => !repeats(block, repeated)), ...more];
  const text = content.map(blockText).join("\n");
  if (isError === true) {
    const details = structuredContent ? JSON.stringify(structuredContent) : "";
    throw new ToolError(
      [text, details].filter((each) => each.trim() !== "").join("\n") || "The tool failed without a message",
    );
  }
  const plain = structuredContent ? withText(structuredContent, text) : all.length > 0 ? text : undefined;
  const blocks = content.map(toResultBlock);
  if (!blocks.some(({ type }) => type === "image")) return plain;
  const shown = { ...(structuredContent && { result: structuredContent }), content: blocks.filter(isSaying) };
  // If this exceeds the limits, pictures are only named, like other files.
  return readParts(shown).outcome.state === "success" ? toolResult(shown) : plain;
}

function withText(structuredContent: Record<string, unknown>, text: string): unknown {
  if (text.trim() === "") return structuredContent;
  return toolResult({ result: structuredContent, content: [{ type: "text", text }] });
}

/**
 * Returns the texts that would only repeat the structured content: all of it, one of its values, or an entry in one of
 * its lists.
 */
function textsOf(given: unknown): ReadonlySet<string> {
  const values = isRecord(given) ? Object.values(given) : [];
  const entries = [given, ...values].filter(Array.isArray).flatMap((list) => list.slice(0, MAX_BLOCKS) as unknown[]);
  return new Set(
    [given, ...values, ...entries].map((value) => (typeof value === "string" ? value : JSON.stringify(value))),
  );
}

function repeats(block: unknown, repeated: ReadonlySet<string> | undefined): boolean {
  if (!repeated || !isRecord(block) || block["type"] !== "text" || typeof block["text"] !== "string") return false;
  const { text } = block;
  if (repeated.has(text)) return true;
  try {
    return repeated.has(JSON.stringify(JSON.parse(text)));
  } catch {
    return false;
  }
}

/**
 * Returns the structured content without fields that only repeat the blocks. Replaces files with a short description.
 */
function toStructured(given: unknown, content: readonly unknown[]): Record<string, unknown> | undefined {
  if (given === undefined || given === null) return undefined;
  const shown = JSON.stringify(content);
  const isShown = (value: unknown) => content.length > 0 && JSON.stringify(value) === shown;
  if (!isRecord(given)) return { value: withoutFiles(given) };
  const entries = Object.entries(given).filter(([, value]) => !isShown(value));
  return entries.length === 0 && content.length > 0
    ? undefined
    : (withoutFiles(Object.fromEntries(entries)) as Record<string, unknown>);
}

function withoutFiles(value: unknown): unknown {
  if (typeof value === "string")
    return value.length > MAX_BASE64_LENGTH && BASE64.test(value)
      ? named("file", `${value.length} characters of base64`)
      : value;
  if (Array.isArray(value)) return value.map(withoutFiles);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutFiles(inner)]));
}

/**
 * Returns an image block for a valid picture (also one in an embedded resource), and a text block for anything else.
 */
function toResultBlock(block: unknown): ResultBlock {
  const data = pictureOf(block)?.replace(/^data:[^,]{0,200};base64,/u, "");
  const type = typeof data === "string" ? mediaTypeOf(Buffer.from(data, "base64")) : undefined;
  if (typeof data !== "string" || !type || !("kind" in type) || type.kind !== "image")
    return { type: "text", text: blockText(block) };
  return { type: "image", source: { data } };
}

function pictureOf(block: unknown): string | undefined {
  if (!isRecord(block)) return undefined;
  const { type, data, resource } = block;
  const bytes = type === "resource" && isRecord(resource) ? resource["blob"] : data;
  return (type === "image" || type === "resource") && typeof bytes === "string" ? bytes : undefined;
}

function isSaying(block: ResultBlock): boolean {
  return block.type !== "text" || block.text.trim() !== "";
}

function blockText(block: unknown): string {
  if (!isRecord(block)) return "[unreadable]";
  const { type, text, data, mimeType, uri, resource } = block;
  if (type === "text" && typeof text === "string") return text;
  if (type === "resource" && isRecord(resource)) {
    const name = named("resource", resource["uri"], resource["mimeType"]);
    return typeof resource["text"] === "string" ? `${name}\n${resource["text"]}` : name;
  }
  if (type === "resource_link") {
    const { title, name, description } = block;
    const words = [title ?? name, description].filter((each) => typeof each === "string" && each !== "");
    return [named("resource", uri, mimeType), ...words].join("\n");
  }
  const bytes = typeof data === "string" ? `${Buffer.byteLength(data, "base64")} bytes` : undefined;
  return named(typeof type === "string" ? type : "unreadable", mimeType, bytes);
}

function named(kind: string, ...details: readonly unknown[]): string {
  const known = details.filter((detail) => typeof detail === "string").map((detail) => detail.slice(0, 200));
  return `[${[kind, ...known].join(" ")}]`;
}
