import { Socket } from "node:net";

interface Target {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** A Unix socket's path. If set, host and port are ignored. */
  readonly path?: string | false | undefined;
}

const CHECK_MS = 1_000;

/**
 * A socket that delays the error event until the close event. Otherwise, postgres.js would send another query between
 * the two events, and that query would be lost.
 */
class DatabaseSocket extends Socket {
  #error: unknown;

  override emit(event: string | symbol, ...values: unknown[]): boolean {
    if (event === "error") {
      this.#error = values[0];
      return true;
    }
    if (event === "close" && this.#error !== undefined) super.emit("error", this.#error);
    return super.emit(event, ...values);
  }
}

export interface SocketTimeouts {
  /** How long the server may take to send its first byte. */
  readonly connectTimeoutMs: number;
  /** How long each later answer may take; 0 means no limit. */
  readonly answerTimeoutMs: number;
}

/**
 * Opens a socket for postgres.js that detects a dead server. If no answer arrives in time, the socket is destroyed and
 * its queries fail. Without this, they would hang until TCP gives up, after about 15 minutes.
 */
export function openSocket(target: Target, timeouts: SocketTimeouts): Socket {
  const [host = "localhost"] = target.host;
  const socket = new DatabaseSocket();
  if (target.path) socket.connect(target.path);
  else socket.connect(target.port[0] ?? 5432, host);
  // With Nagle's algorithm, a statement would be delayed until the server has acknowledged the previous one.
  socket.setNoDelay(true);
  // postgres.js reads the server's name for TLS from the socket's `host`.
  Object.assign(socket, { host });
  // A proxy without a backend closes the connection before the first byte. Without this error, postgres.js would then
  // reconnect in a tight loop.
  socket.once("end", () => {
    if (socket.bytesRead === 0) socket.destroy(lost("CONNECTION_CLOSED"));
  });
  watch(socket, timeouts);
  return socket;
}

/**
 * Destroys the socket if no answer arrives in time. Counts checks instead of measuring elapsed time, because an answer
 * may have arrived while this process was frozen, and may not have been read yet. Over TLS, postgres.js removes our
 * `data` listener, so idle connections are closed as well, and the next query opens a new one.
 */
function watch(socket: Socket, { connectTimeoutMs, answerTimeoutMs }: SocketTimeouts): void {
  const answerMs = answerTimeoutMs || Number.POSITIVE_INFINITY;
  let answeredBytes = 0;
  let readBytes = 0;
  let quietChecks = 0;
  socket.on("data", () => {
    answeredBytes = socket.bytesWritten;
  });
  const checkMs = Math.min(CHECK_MS, connectTimeoutMs / 4, answerMs / 4);
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer);
    const isQuiet = socket.bytesRead === readBytes && socket.bytesWritten > answeredBytes;
    readBytes = socket.bytesRead;
    quietChecks = isQuiet ? quietChecks + 1 : 0;
    const [limitMs, code] = readBytes === 0 ? [connectTimeoutMs, "CONNECT_TIMEOUT"] : [answerMs, "ANSWER_TIMEOUT"];
    if (quietChecks * checkMs >= limitMs) socket.destroy(lost(code));
  }, checkMs);
  timer.unref();
}

/** Returns an error with a code, like those of postgres.js. */
function lost(code: string): Error {
  return Object.assign(new Error(`The database connection was lost (${code})`), { code });
}
