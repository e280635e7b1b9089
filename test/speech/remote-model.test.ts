import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { serialize } from "node:v8";
import { expect, test } from "vitest";
import { RemoteModel } from "../../src/speech/remote-model.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** Creates a server on a Unix socket, and a model that sends its questions there. `start` makes the server listen. */
async function speechServer(answer: RequestListener) {
  const folder = await tempFolder();
  const socket = join(folder.path, "socket");
  const server = createServer(answer);
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await folder[Symbol.asyncDispose]();
  };
  return {
    model: new RemoteModel<string, string>(socket, "/speak"),
    start: () => server.listen(socket),
    [Symbol.asyncDispose]: close,
  };
}

test("a question waits for a process that does not run yet", async () => {
  await using server = await speechServer((_request, response) => response.end(serialize("yes")));
  const asked = server.model.ask("Are you there?");
  server.start();

  expect(await asked).toBe("yes");
});

test("a question during which the process exits is asked once more", async () => {
  const paths: unknown[] = [];
  await using server = await speechServer((request, response) => {
    paths.push(request.url);
    if (paths.length === 1) request.destroy();
    else response.end(serialize("yes"));
  });
  server.start();

  expect(await server.model.ask("Are you there?")).toBe("yes");
  expect(paths).toEqual(["/speak", "/speak"]);
});

test("a question during which the process exits twice fails", async () => {
  let requests = 0;
  await using server = await speechServer((request) => {
    requests++;
    request.destroy();
  });
  server.start();

  await expect(server.model.ask("Are you there?")).rejects.toThrow("socket hang up");
  expect(requests).toBe(2);
});

test("a model's failure is reported once, in its own words", async () => {
  let requests = 0;
  await using server = await speechServer((_request, response) => {
    requests++;
    response.writeHead(500).end(serialize("the embedded voice failed: no such word"));
  });
  server.start();

  await expect(server.model.ask("Are you there?")).rejects.toThrow("the embedded voice failed: no such word");
  expect(requests).toBe(1);
});

test("a question that is given up waits no longer", async () => {
  await using server = await speechServer(() => {});
  const aborting = new AbortController();
  const asked = server.model.ask("Are you there?", aborting.signal);
  aborting.abort(new Error("not needed"));

  await expect(asked).rejects.toThrow("not needed");
});
