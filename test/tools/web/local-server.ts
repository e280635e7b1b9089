import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";

/** A server on every loopback address. Disposing it closes all of its connections. */
export async function listen(handle: RequestListener, tls?: ServerOptions) {
  const server: Server = tls === undefined ? createServer(handle) : createSecureServer(tls, handle);
  const requests: string[] = [];
  server.on("request", ({ url = "" }) => requests.push(url));
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    /** The paths requested so far. */
    requests,
    connectionCount: () =>
      new Promise<number>((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
