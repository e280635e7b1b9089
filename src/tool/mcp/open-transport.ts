import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { HttpServerConfig, McpServerConfig } from "./mcp-config.ts";
import { StdioTransport } from "./stdio-transport.ts";

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

export type McpTransport = StdioTransport | StreamableHTTPClientTransport;

/** Returns a transport for the client to start. `onStderr` receives what a process writes to stderr, in pieces. */
export function openTransport(config: McpServerConfig, onStderr: (text: string) => void): McpTransport {
  if ("url" in config) return overHttp(config);
  return new StdioTransport(config, { maxMessageBytes: MAX_MESSAGE_BYTES, onStderr });
}

function overHttp({ url, headers }: HttpServerConfig): StreamableHTTPClientTransport {
  // A redirect to another origin would send the headers there. `redirectPolicy` allows only the same origin by default.
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    // Closing the transport ends a call whose answer is too large. Otherwise the call would wait for its deadline.
    fetch: cappedFetch(MAX_MESSAGE_BYTES, () => void transport.close()),
  });
  return transport;
}

const LINE_FEED = 0x0a;

/**
 * Returns a `fetch` whose response bodies fail above `maxBytes`, because the SDK holds a whole answer, or a whole event
 * of a stream, in memory. An event stream has no end, so its limit applies to each event.
 */
export function cappedFetch(maxBytes: number, onTooLarge: () => void): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    // The SDK handles redirects and needs the original response, which contains the URL.
    const isRedirect = response.status >= 300 && response.status < 400;
    if (!response.body || isRedirect) return response;
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const body = response.body.pipeThrough(capped(maxBytes, { isStream, onTooLarge }));
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

function capped(
  maxBytes: number,
  { isStream, onTooLarge }: { readonly isStream: boolean; readonly onTooLarge: () => void },
): TransformStream<Uint8Array<ArrayBuffer>> {
  let size = 0;
  let previous = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length;
      if (isStream) {
        const end = endOfEvent(chunk, previous);
        if (end !== undefined) size = chunk.length - end;
        previous = chunk.at(-1) ?? previous;
      }
      if (size <= maxBytes) return controller.enqueue(chunk);
      onTooLarge();
      throw new RangeError(`The response is larger than ${maxBytes} bytes`);
    },
  });
}

/** Returns the index after the last empty line of the chunk, where an event ends. */
function endOfEvent(chunk: Uint8Array, previous: number): number | undefined {
  for (let index = chunk.length - 1; index >= 0; index--) {
    if (chunk[index] !== LINE_FEED) continue;
    const before = chunk[index - 1] ?? previous;
    const isAfterReturn = before === 0x0d && (chunk[index - 2] ?? LINE_FEED) === LINE_FEED;
    if (before === LINE_FEED || isAfterReturn) return index + 1;
  }
  return undefined;
}
