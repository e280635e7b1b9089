import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { once } from "node:events";
import { constants, createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";

interface GrpcOptions {
  readonly host: string;
  /** 0 takes a free port. */
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
const MAX_CONNECTIONS = 500;
/** The time for a whole RPC. It also limits a slow sender, as the token is only read when the request is whole. */
const CALL_MS = 30_000;
/** A connection without a call is ended after this time, even if its peer sends pings. Clients then open another. */
const IDLE_MS = 60_000;

/**
 * gRPC over cleartext HTTP/2, which clients speak from the first byte. It has a port of its own because a plain port
 * cannot speak HTTP/1.1 as well.
 */
export async function openGrpcServer({ host, port, routes }: GrpcOptions): Promise<GrpcServer> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer({ settings: { maxConcurrentStreams: MAX_STREAMS } }, connectNodeAdapter({ routes }));
  server.maxConnections = MAX_CONNECTIONS;
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    limitTimes(session);
    // An error of one connection ends that connection, nothing else.
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

/** Ends calls that take too long and connections that are not used. `close` of a session would wait for its peer. */
function limitTimes(session: ServerHttp2Session): void {
  let calls = 0;
  const end = () => session.destroy();
  let idle = setTimeout(end, IDLE_MS);
  session.once("close", () => clearTimeout(idle));
  session.on("stream", (stream) => {
    calls += 1;
    clearTimeout(idle);
    const limit = setTimeout(() => {
      stream.close(constants.NGHTTP2_CANCEL);
      // On its own, `close` waits until all has been sent.
      stream.destroy();
    }, CALL_MS);
    stream.once("close", () => {
      clearTimeout(limit);
      calls -= 1;
      if (calls === 0 && !session.destroyed) idle = setTimeout(end, IDLE_MS);
    });
  });
}
