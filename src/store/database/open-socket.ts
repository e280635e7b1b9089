import { Socket } from "node:net";

interface Target {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** A Unix socket's path. Without one, host and port count. */
  readonly path?: string | false | undefined;
}

const CHECK_MS = 1_000;

/**
 * Emits an error only together with the close. Between the two, postgres.js would send another query on this
 * connection, which would be lost with it.
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
  /** How long the server may take to its first byte. */
  readonly connectTimeoutMs: number;
  /** How long each later answer may take; 0 waits for ever. */
  readonly answerTimeoutMs: number;
}

/**
 * A socket for postgres.js that notices a dead server: one that gets no answer in time is destroyed, so that its
 * queries fail. Otherwise they would hang until TCP gives up, after a quarter of an hour.
 */
export function openSocket(target: Target, timeouts: SocketTimeouts): Socket {
  const [host = "localhost"] = target.host;
  const socket = new DatabaseSocket();
  if (target.path) socket.connect(target.path);
  else socket.connect(target.port[0] ?? 5432, host);
  // Otherwise a statement would wait in this machine until the server has confirmed the one before it.
  socket.setNoDelay(true);
  // postgres.js takes the server's name for TLS from here.
  Object.assign(socket, { host });
  // If a proxy without a backend closes before the first byte, postgres.js would reconnect at once, for ever.
  socket.once("end", () => {
    if (socket.bytesRead === 0) socket.destroy(lost("CONNECTION_CLOSED"));
  });
  watch(socket, timeouts);
  return socket;
}

/**
 * Counts how often it has looked, and not the time, because after this process has stood still an answer may be there
 * unread. Over TLS, postgres.js removes the listener, so an idle connection is closed, too: the next query reopens it.
 */
function watch(socket: Socket, { connectTimeoutMs, answerTimeoutMs }: SocketTimeouts): void {
  const answerMs = answerTimeoutMs || Number.POSITIVE_INFINITY;
  let answeredBytes = 0;
  let readBytes = 0;
  let quietLooks = 0;
  socket.on("data", () => {
    answeredBytes = socket.bytesWritten;
  });
  const lookMs = Math.min(CHECK_MS, connectTimeoutMs / 4, answerMs / 4);
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer);
    const isQuiet = socket.bytesRead === readBytes && socket.bytesWritten > answeredBytes;
    readBytes = socket.bytesRead;
    quietLooks = isQuiet ? quietLooks + 1 : 0;
    const [limitMs, code] = readBytes === 0 ? [connectTimeoutMs, "CONNECT_TIMEOUT"] : [answerMs, "ANSWER_TIMEOUT"];
    if (quietLooks * lookMs >= limitMs) socket.destroy(lost(code));
  }, lookMs);
  timer.unref();
}

/** An error with a code, like those of postgres.js. */
function lost(code: string): Error {
  return Object.assign(new Error(`The connection to the database is lost (${code})`), { code });
}
