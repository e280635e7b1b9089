import { rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { deserialize, serialize } from "node:v8";
import { encodePart } from "./part-stream.ts";
import type { SpeechRequest } from "./remote-model.ts";
import { type SpeechModelOf, type SpeechUse, startModel } from "./start-model.ts";

/**
 * The process that runs the models of embedded speech for all sessions of a worker. It answers `POST /<use>` on a Unix
 * socket, whose folder only this user may enter. Requests are structured clones (`node:v8`), and responses are the parts
 * of an answer (`part-stream.ts`).
 *
 * Arguments: the socket's path, the models' folder, and what to serve: `listen`, `speak`, `endOfTurn`.
 */
const [socket = "", folder = "", ...uses] = process.argv.slice(2);

const load = async (use: SpeechUse) => [`/${use}`, await startModel(use, folder)] as const;
const models = new Map<string, SpeechModelOf<SpeechUse>>(await Promise.all((uses as SpeechUse[]).map(load)));

const server = createServer((request, response) => {
  answer(request, response).then(
    () => response.end(),
    (error: unknown) => {
      // After the first part, only a broken connection can report a failure. The client then asks once more.
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end(serialize(error instanceof Error ? error.message : error));
    },
  );
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const abandoned = new AbortController();
  response.once("close", () => abandoned.abort());
  const model = models.get(request.url ?? "");
  if (!model) throw new TypeError(`No model answers ${request.url}`);
  const { question, isOptional } = deserialize(await buffer(request)) as SpeechRequest<never>;
  const parts = model.ask(question, { isOptional, signal: abandoned.signal });
  for await (const part of parts) response.write(encodePart(part));
}

// A killed process leaves its socket behind.
rmSync(socket, { force: true });
server.listen(socket, () => process.send?.("ready"));
process.once("disconnect", () => process.exit());
