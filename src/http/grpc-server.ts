import { type ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import { type AddressInfo } from "node:net";

interface GrpcOptions {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly routes: (router: ConnectRouter) => void;
}

export interface GrpcServer {
  readonly port: number;
  /** Also ends connections that are open. */
  readonly close: () => Promise<void>;
}

/** Streams that one connection may have at once: every call here is short. */
const MAX_STREAMS = 100;
const IDLE_MS = 10 * 60_000;

/**
 * gRPC over cleartext HTTP/2, which clients speak from the first byte. It has a port of its own because a plain port
 * cannot speak HTTP/1.1 as well.
 */
export async function openGrpcServer({ host, port, routes }: GrpcOptions): Promise<GrpcServer> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer({ settings: { maxConcurrentStreams: MAX_STREAMS } }, connectNodeAdapter({ routes }));
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.setTimeout(IDLE_MS, () => session.close());
    // A peer's fault ends its own connection, nothing else.
    session.on("error", () => {});
  });
  server.listen(port, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}
