import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { deserialize, serialize } from "node:v8";
import pRetry from "p-retry";
import { decodeParts } from "./part-stream.ts";
import type { AskOptions, SpeechModel } from "./speech-model.ts";

const RETRY_AFTER_MS = 250;
const WAIT_MS = 15_000;
/** Error codes that say that the process is not running. */
const NOT_RUNNING_CODES = new Set(["ENOENT", "ECONNREFUSED"]);
/** Error codes that say that the process exited before its answer was complete. */
const EXITED_CODES = new Set(["ECONNRESET", "EPIPE"]);
/**
 * How many times the process may exit while it handles the same question. The question is then not sent again, because
 * it may be what makes the process exit.
 */
const MAX_EXITS = 2;

/** What a request to the speech process contains. */
export interface SpeechRequest<Question> {
  readonly question: Question;
  readonly isOptional: boolean;
}

/**
 * A model in the worker's speech process. While that process restarts, questions wait up to 15 s. If it exits in the
 * middle of an answer, the question is asked again, and the parts that have arrived are skipped: a model divides the
 * same answer into the same parts.
 */
export class RemoteModel<Question, Part> implements SpeechModel<Question, Part> {
  readonly #socketPath: string;
  readonly #path: string;

  constructor(socketPath: string, path: string) {
    this.#socketPath = socketPath;
    this.#path = path;
  }

  async *ask(question: Question, { signal, isOptional = false }: AskOptions = {}): AsyncGenerator<Part, void> {
    const body = serialize({ question, isOptional } satisfies SpeechRequest<Question>);
    let exits = 0;
    let arrived = 0;
    let parts: AsyncGenerator<unknown, void> | undefined;
    const next = async () => {
      try {
        if (!parts) {
          parts = decodeParts(await this.#post(body, signal));
          for (let skipped = 0; skipped < arrived; skipped++) await parts.next();
        }
        return await parts.next();
      } catch (error) {
        parts = undefined;
        throw error;
      }
    };
    const retrying = {
      retries: WAIT_MS / RETRY_AFTER_MS,
      factor: 1,
      minTimeout: RETRY_AFTER_MS,
      ...(signal && { signal }),
      shouldRetry: ({ error }: { readonly error: Error }) => {
        const { code = "" } = error as NodeJS.ErrnoException;
        if (EXITED_CODES.has(code)) return ++exits < MAX_EXITS;
        return NOT_RUNNING_CODES.has(code);
      },
    };
    try {
      for (;;) {
        const part = await pRetry(next, retrying);
        if (part.done) return;
        arrived++;
        yield part.value as Part;
      }
    } finally {
      // Closes the connection, which cancels the question.
      await parts?.return();
    }
  }

  async close(): Promise<void> {}

  async #post(body: Buffer, signal: AbortSignal | undefined): Promise<IncomingMessage> {
    const options = { socketPath: this.#socketPath, path: this.#path, method: "POST", agent: false, signal };
    const sent = request(options);
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    // An abort destroys the response, and also fails the request, which nobody waits for any longer.
    sent.on("error", () => {});
    if (response.statusCode === 200) return response;
    throw new Error(String(deserialize(await buffer(response))));
  }
}
