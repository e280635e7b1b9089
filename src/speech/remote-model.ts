import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import { deserialize, serialize } from "node:v8";
import pRetry from "p-retry";
import type { SpeechModel } from "./speech-model.ts";

/** Longer than a new process needs to load the models on a busy machine. */
const RETRY_MS = 250;
const RETRIES = 40;
/** The process does not run, or ended before it answered. */
const IS_GONE = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE"]);
/** A question during which the process ended this often is given up: it may be the reason. */
const MAX_DEATHS = 2;

/** A model in the worker's speech process. While that process restarts, questions wait up to 10 s for it. */
export class RemoteModel<Question, Value> implements SpeechModel<Question, Value> {
  readonly #socketPath: string;
  readonly #path: string;

  constructor(socketPath: string, path: string) {
    this.#socketPath = socketPath;
    this.#path = path;
  }

  async ask(question: Question, signal?: AbortSignal): Promise<Value> {
    const body = serialize(question);
    let deaths = 0;
    return pRetry(() => this.#post(body, signal), {
      retries: RETRIES,
      factor: 1,
      minTimeout: RETRY_MS,
      ...(signal && { signal }),
      shouldRetry: ({ error }) => {
        const { code = "" } = error as NodeJS.ErrnoException;
        if (code === "ECONNRESET" || code === "EPIPE") deaths++;
        return IS_GONE.has(code) && deaths < MAX_DEATHS;
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
