import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { serialize } from "node:v8";
import { expect, test } from "vitest";
import { encodePart } from "../../src/speech/part-stream.ts";
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
  const model = new RemoteModel<string, string>(socket, "/speak");
  return {
    model,
    ask: (question: string) => Array.fromAsync(model.ask(question)),
    start: () => server.listen(socket),
    [Symbol.asyncDispose]: close,
  };
}

test("a question waits for a process that does not run yet", async () => {
  await using server = await speechServer((_request, response) => response.end(encodePart("yes")));
  const asked = server.ask("Are you there?");
  server.start();

  expect(await asked).toEqual(["yes"]);
});

test("a question during which the process exits is asked once more", async () => {
  const paths: unknown[] = [];
  await using server = await speechServer((request, response) => {
    paths.push(request.url);
    if (paths.length === 1) request.destroy();
    else response.end(encodePart("yes"));
  });
  server.start();

  expect(await server.ask("Are you there?")).toEqual(["yes"]);
  expect(paths).toEqual(["/speak", "/speak"]);
});

test("a question during which the process exits twice fails", async () => {
  let requests = 0;
  await using server = await speechServer((request) => {
    requests++;
    request.destroy();
  });
  server.start();

  await expect(server.ask("Are you there?")).rejects.toThrow("socket hang up");
  expect(requests).toBe(2);
});

test("a model's failure is reported once, in its own words", async () => {
  let requests = 0;
  await using server = await speechServer((_request, response) => {
    requests++;
    response.writeHead(500).end(serialize("the embedded voice failed: no such word"));
  });
  server.start();

  await expect(server.ask("Are you there?")).rejects.toThrow("the embedded voice failed: no such word");
  expect(requests).toBe(1);
});

test("a question that is given up waits no longer", async () => {
  await using server = await speechServer(() => {});
  const aborting = new AbortController();
  const asked = Array.fromAsync(server.model.ask("Are you there?", { signal: aborting.signal }));
  aborting.abort(new Error("not needed"));

  await expect(asked).rejects.toThrow("not needed");
});

test("a part arrives before the next one is made", async () => {
  const more = Promise.withResolvers<void>();
  await using server = await speechServer((_request, response) => {
    response.write(encodePart("one"));
    void more.promise.then(() => response.end(encodePart("two")));
  });
  server.start();
  const parts = server.model.ask("Count.");

  expect((await parts.next()).value).toBe("one");
  more.resolve();
  expect((await parts.next()).value).toBe("two");
  expect((await parts.next()).done).toBe(true);
});

test("after an exit in the middle of an answer, only its missing parts follow", async () => {
  let requests = 0;
  await using server = await speechServer((request, response) => {
    requests++;
    response.write(encodePart("one"));
    if (requests === 1) response.write(encodePart("two"), () => request.destroy());
    else response.end(Buffer.concat([encodePart("two"), encodePart("three")]));
  });
  server.start();

  expect(await server.ask("Count.")).toEqual(["one", "two", "three"]);
  expect(requests).toBe(2);
});

test("a reader that stops in the middle of an answer closes the connection", async () => {
  const closed = Promise.withResolvers<string>();
  await using server = await speechServer((_request, response) => {
    response.once("close", () => closed.resolve("closed"));
    response.write(encodePart("one"));
  });
  server.start();
  for await (const _part of server.model.ask("Count.")) break;

  expect(await closed.promise).toBe("closed");
});
