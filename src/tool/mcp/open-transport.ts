import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { KillWithUs } from "../kill-with-us.ts";
import { type HttpServerConfig, type McpServerConfig, type StdioServerConfig } from "./mcp-config.ts";
import { cappedFetch } from "./capped-fetch.ts";

/** Of one message. The SDK's own bound for stdio; over HTTP it has none. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

export type McpTransport = StdioTransport | StreamableHTTPClientTransport;

/** Not started: the client does that. `onStderr` gets what a process writes there, in pieces. */
export function openTransport(config: McpServerConfig, onStderr: (text: string) => void): McpTransport {
  return "url" in config ? overHttp(config) : new StdioTransport(config, onStderr);
}

function overHttp({ url, headers }: HttpServerConfig): StreamableHTTPClientTransport {
  // Redirects leave the origin, and so take the headers elsewhere, only if `redirectPolicy` says so.
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    // A call whose answer cannot be read must not wait for its deadline.
    fetch: cappedFetch(MAX_MESSAGE_BYTES, () => void transport.close()),
  });
  return transport;
}

/** Its process is killed with us, however we end: not each ends with its input, and the SDK gives it 4 s for that. */
class StdioTransport extends StdioClientTransport {
  constructor({ command, args, env, cwd }: StdioServerConfig, onStderr: (text: string) => void) {
    super({
      command,
      args,
      env,
      stderr: "pipe",
      maxBufferSize: MAX_MESSAGE_BYTES,
      ...(cwd !== undefined && { cwd }),
    });
    this.stderr?.on("data", (chunk: Buffer) => onStderr(chunk.toString()));
  }

  override async start(): Promise<void> {
    const killWithUs = new KillWithUs();
    const onEnd = this.onclose;
    this.onclose = () => {
      killWithUs.end();
      onEnd?.();
    };
    const started = super.start();
    killWithUs.watch(this.pid ?? undefined, "process");
    await started;
  }
}
