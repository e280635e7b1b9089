import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { deserialize, serialize } from "node:v8";
import { type SpeechModelOf, type SpeechUse, startModel } from "./start-model.ts";

/**
 * The process that runs the models of embedded speech for all sessions of a worker. It answers `POST /listen` and
 * `POST /speak` on a Unix socket, whose folder only this user may enter. Bodies are structured clones (`node:v8`).
 *
 * Arguments: the socket's path, the models' folder, and what to serve: `listen`, `speak` or both.
 */
const [socket = "", folder = "", ...uses] = process.argv.slice(2);

const load = async (use: SpeechUse) => [`/${use}`, await startModel(use, folder)] as const;
const models = new Map<string, SpeechModelOf<SpeechUse>>(await Promise.all((uses as SpeechUse[]).map(load)));

const server = createServer(async (request, response) => {
  const abandoned = new AbortController();
  response.once("close", () => abandoned.abort());
  try {
    const model = models.get(request.url ?? "");
    if (!model) throw new TypeError(`No model answers ${request.url}`);
    const question = deserialize(await buffer(request)) as string | Float32Array;
    response.end(serialize(await model.ask(question, abandoned.signal)));
  } catch (error) {
    if (!response.destroyed) response.writeHead(500).end(serialize(error instanceof Error ? error.message : error));
  }
});
// A killed process leaves its socket behind.
rmSync(socket, { force: true });
server.listen(socket, () => process.send?.("ready"));
process.once("disconnect", () => process.exit());
