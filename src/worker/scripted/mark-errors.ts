import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { isRecord } from "../../lib/json.ts";
import type { Service } from "../services/service.ts";

/** Begins the text of a tool result that is an error. */
export const ERROR_MARK = "\uE001";

/**
 * Starts a server on loopback that passes requests on to aimock, which drops `is_error` of tool results: their texts get
 * `ERROR_MARK`.
 */
export async function startErrorMarks(target: string): Promise<Service & { readonly url: string }> {
  const server = createServer((request, response) => {
    passOn(target, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

async function passOn(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "GET", url = "/", headers } = request;
  const body = await text(request);
  const left = new AbortController();
  response.once("close", () => left.abort());
  const answer = await fetch(`${target}${url}`, {
    method,
    headers: pick(headers, ["x-api-key", "authorization", "content-type", "anthropic-version", "anthropic-beta"]),
    signal: left.signal,
    ...(body !== "" && { body: withMarks(body) }),
  });
  response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "application/json" });
  if (answer.body)
    Readable.fromWeb(answer.body as never)
      .on("error", () => response.destroy())
      .pipe(response);
  else response.end();
}

function pick(headers: IncomingMessage["headers"], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}

function withMarks(body: string): string {
  if (!body.includes('"is_error"')) return body;
  return JSON.stringify(JSON.parse(body), (_, value: unknown) => {
    if (!isRecord(value) || value["type"] !== "tool_result" || value["is_error"] !== true) return value;
    const { content } = value;
    const marked = Array.isArray(content)
      ? [{ type: "text", text: ERROR_MARK }, ...(content as unknown[])]
      : `${ERROR_MARK}${typeof content === "string" ? content : ""}`;
    return { ...value, is_error: undefined, content: marked };
  });
}
