import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { once } from "node:events";
import { constants, createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { checkRoomToken, type TokenKeys } from "../access/room-access.ts";

interface GrpcOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly livekit: TokenKeys;
  readonly routes: (router: ConnectRouter) => void;
}

export interface GrpcServer {
  readonly port: number;
  /** Also ends connections that are open. */
  readonly close: () => Promise<void>;
}

/** Streams that one connection may have at once: every call here is short. */
const MAX_STREAMS = 100;
/** One more takes the place of the oldest on which no call has had a valid token; if all had one, it is not taken. */
const MAX_CONNECTIONS = 500;
/** The time for a whole RPC. It also limits a slow sender, as the token is only read when the request is whole. */
const CALL_MS = 30_000;
/** A connection without a call is ended after this time, even if its peer sends pings. Clients then open another. */
const IDLE_MS = 60_000;

/**
 * gRPC over cleartext HTTP/2, which clients speak from the first byte. It has a port of its own because a plain port
 * cannot speak HTTP/1.1 as well.
 */
export async function openGrpcServer({ host, port, livekit, routes }: GrpcOptions): Promise<GrpcServer> {
  /** The oldest first. */
  const sessions = new Set<ServerHttp2Session>();
  const known = new WeakSet<ServerHttp2Session>();
  const server = createServer({ settings: { maxConcurrentStreams: MAX_STREAMS } }, connectNodeAdapter({ routes }));
  const makeRoom = () => {
    if (sessions.size <= MAX_CONNECTIONS) return;
    for (const session of sessions) {
      if (known.has(session)) continue;
      sessions.delete(session);
      return session.destroy();
    }
  };
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // An error of one connection ends that connection, nothing else.
    session.on("error", () => {});
    limitTimes(session);
    session.on("stream", (_stream, { authorization }) => {
      const caller = { headers: { ...(authorization !== undefined && { authorization }) }, query: {} };
      checkRoomToken(caller, livekit).then(
        () => known.add(session),
        // Its call is refused.
        () => {},
      );
    });
    makeRoom();
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
