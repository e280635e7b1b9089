import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";

export interface LoopbackServer {
  readonly url: string;
  /** Closes the server and all open connections. */
  readonly close: () => Promise<void>;
}

/** A complete request from the agent. */
export interface AgentRequest {
  readonly path: string;
  /** The query string, including `?`. Empty if there is none. */
  readonly query: string;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** Serves the Messages API to an agent in this process. */
export async function serve(
  handle: (request: AgentRequest, response: ServerResponse) => Promise<void>,
): Promise<LoopbackServer> {
  const server = createServer((incoming, response) => {
    readText(incoming)
      .then((text) => {
        const [path = "", query] = (incoming.url ?? "").split("?");
        return handle(
          { path, query: query === undefined ? "" : `?${query}`, headers: incoming.headers, text },
          response,
        );
      })
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
