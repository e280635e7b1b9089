import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { once } from "node:events";
import { constants, createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { checkRoomToken, type TokenKeys } from "../access/room-access.ts";

interface GrpcOptions {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly livekit: TokenKeys;
  readonly routes: (router: ConnectRouter) => void;
}

export interface GrpcServer {
  readonly port: number;
  /** Also closes open connections. */
  readonly close: () => Promise<void>;
}

/** Concurrent streams per connection. All calls here are short. */
const MAX_STREAMS = 100;
/**
 * How many connections may be open. If there are more, the oldest one that has not made an authenticated call is
 * closed, which may be the new one.
 */
const MAX_CONNECTIONS = 500;
/**
 * How long a whole RPC may take, including the time that a slow sender needs. Calls without a valid token end at once.
 */
const CALL_MS = 30_000;
/** How long a connection may stay open without calls, even if the client sends pings. The client can then reconnect. */
const IDLE_MS = 60_000;

/**
 * Opens a gRPC server on cleartext HTTP/2, without an upgrade: clients speak HTTP/2 from the first byte. It has its own
 * port because a plaintext port cannot also serve HTTP/1.1.
 */
export async function openGrpcServer({ host, port, livekit, routes }: GrpcOptions): Promise<GrpcServer> {
  /** All open connections, oldest first. */
  const sessions = new Set<ServerHttp2Session>();
  /** The connections that have made an authenticated call. */
  const known = new WeakSet<ServerHttp2Session>();
  const server = createServer({ settings: { maxConcurrentStreams: MAX_STREAMS } }, connectNodeAdapter({ routes }));
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // A connection's error ends only that connection.
    session.on("error", () => {});
    limitTimes(session);
    session.on("stream", (_stream, { authorization }) => {
      const caller = { headers: { ...(authorization !== undefined && { authorization }) }, query: {} };
      checkRoomToken(caller, livekit).then(
        () => known.add(session),
        // The handler rejects the call.
        () => {},
      );
    });
    if (sessions.size > MAX_CONNECTIONS) closeOldest(sessions, known);
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

/** Closes the oldest of the sessions that are not `known`. */
function closeOldest(sessions: Set<ServerHttp2Session>, known: WeakSet<ServerHttp2Session>): void {
  for (const session of sessions) {
    if (known.has(session)) continue;
    sessions.delete(session);
    return session.destroy();
  }
}

/** Ends idle connections, and calls that take too long. Destroys them, because `close` would wait for the client. */
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
      // `close` alone waits until everything has been sent.
      stream.destroy();
    }, CALL_MS);
    stream.once("close", () => {
      clearTimeout(limit);
      calls -= 1;
      if (calls === 0 && !session.destroyed) idle = setTimeout(end, IDLE_MS);
    });
  });
}
