import { rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { deserialize, serialize } from "node:v8";
import type { Speech } from "./voice/voice.ts";
import { type SpeechModelOf, type SpeechUse, startModel } from "./start-model.ts";

/**
 * The process that runs the models of embedded speech for all sessions of a worker. It answers `POST /<use>`
 * on a Unix socket, whose folder only this user may enter. Bodies are structured clones (`node:v8`).
 *
 * Arguments: the socket's path, the models' folder, and what to serve: `listen`, `speak`, `endOfTurn`.
 */
const [socket = "", folder = "", ...uses] = process.argv.slice(2);

const load = async (use: SpeechUse) => [`/${use}`, await startModel(use, folder)] as const;
const models = new Map<string, SpeechModelOf<SpeechUse>>(await Promise.all((uses as SpeechUse[]).map(load)));

const server = createServer((request, response) => {
  const abandoned = new AbortController();
  response.once("close", () => abandoned.abort());
  answer(request, abandoned.signal).then(
    (value) => response.end(serialize(value)),
    (error: unknown) => {
      if (!response.destroyed) response.writeHead(500).end(serialize(error instanceof Error ? error.message : error));
    },
  );
});

async function answer(request: IncomingMessage, signal: AbortSignal): Promise<string | number | Speech> {
  const model = models.get(request.url ?? "");
  if (!model) throw new TypeError(`No model answers ${request.url}`);
  const question = deserialize(await buffer(request)) as never;
  return model.ask(question, signal);
}

// A killed process leaves its socket behind.
rmSync(socket, { force: true });
server.listen(socket, () => process.send?.("ready"));
process.once("disconnect", () => process.exit());
