import { Socket } from "node:net";

interface Target {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Of a Unix socket; else host and port count. */
  readonly path?: string | false | undefined;
}

const CHECK_MS = 1_000;

/**
 * Tells of an error only together with the close. Between the two postgres.js would give this connection a further
 * query and never answer it.
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

/**
 * A socket for postgres.js that notices a dead peer: one that owes an answer for `answerTimeoutMs` is destroyed, so its
 * queries fail instead of hanging until TCP gives up, a quarter of an hour later.
 */
export function openSocket(target: Target, answerTimeoutMs: number): Socket {
  const [host = "localhost"] = target.host;
  const socket = new DatabaseSocket();
  if (target.path) socket.connect(target.path);
  else socket.connect(target.port[0] ?? 5432, host);
  // postgres.js names the server by this in TLS.
  Object.assign(socket, { host });
  // Closed before a first byte (a proxy without a backend), postgres.js would reconnect at once, for ever.
  socket.once("end", () => {
    if (socket.bytesRead === 0) socket.destroy(lost("CONNECTION_CLOSED"));
  });
  if (answerTimeoutMs > 0) watch(socket, answerTimeoutMs);
  return socket;
}

/**
 * Counts looks, not time: after this process has stood still, the answer may be here and only unread.
 *
 * Over TLS postgres.js takes the listener off, so there an idle connection is closed as well: the next query reopens it.
 */
function watch(socket: Socket, answerTimeoutMs: number): void {
  let answeredBytes = 0;
  let readBytes = 0;
  let quietLooks = 0;
  socket.on("data", () => {
    answeredBytes = socket.bytesWritten;
  });
  const lookMs = Math.min(CHECK_MS, answerTimeoutMs / 4);
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer);
    const isQuiet = socket.bytesRead === readBytes && socket.bytesWritten > answeredBytes;
    readBytes = socket.bytesRead;
    quietLooks = isQuiet ? quietLooks + 1 : 0;
    if (quietLooks * lookMs >= answerTimeoutMs) socket.destroy(lost("ANSWER_TIMEOUT"));
  }, lookMs);
  timer.unref();
}

/** With a code in the manner of postgres.js's own. */
function lost(code: string): Error {
  return Object.assign(new Error(`The connection to the database is lost (${code})`), { code });
}
