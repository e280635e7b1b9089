import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import { deserialize, serialize } from "node:v8";
import pRetry from "p-retry";
import type { SpeechModel } from "./speech-model.ts";

const RETRY_AFTER_MS = 250;
const WAIT_MS = 15_000;
/** Error codes that say that the process is not running. */
const NOT_RUNNING_CODES = new Set(["ENOENT", "ECONNREFUSED"]);
/** Error codes that say that the process exited before it answered. */
const EXITED_CODES = new Set(["ECONNRESET", "EPIPE"]);
/**
 * How many times the process may exit while it handles the same question. The question is then not sent again, because
 * it may be what makes the process exit.
 */
const MAX_EXITS = 2;

/** A model in the worker's speech process. While that process restarts, questions wait up to 15 s. */
export class RemoteModel<Question, Value> implements SpeechModel<Question, Value> {
  readonly #socketPath: string;
  readonly #path: string;

  constructor(socketPath: string, path: string) {
    this.#socketPath = socketPath;
    this.#path = path;
  }

  async ask(question: Question, signal?: AbortSignal): Promise<Value> {
    const body = serialize(question);
    let exits = 0;
    return pRetry(() => this.#post(body, signal), {
      retries: WAIT_MS / RETRY_AFTER_MS,
      factor: 1,
      minTimeout: RETRY_AFTER_MS,
      ...(signal && { signal }),
      shouldRetry: ({ error }) => {
        const { code = "" } = error as NodeJS.ErrnoException;
        if (EXITED_CODES.has(code)) return ++exits < MAX_EXITS;
        return NOT_RUNNING_CODES.has(code);
      },
    });
  }

  async close(): Promise<void> {}

  async #post(body: Buffer, signal: AbortSignal | undefined): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const options = { socketPath: this.#socketPath, path: this.#path, method: "POST", agent: false, signal };
    const sent = request(options, (response) => {
      buffer(response).then((bytes) => {
        const value: unknown = deserialize(bytes);
        if (response.statusCode === 200) resolve(value as Value);
        else reject(new Error(String(value)));
      }, reject);
    });
    sent.on("error", reject);
    sent.end(body);
    return promise;
  }
}
