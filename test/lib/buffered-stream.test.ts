import { expect, test } from "vitest";
import { BufferedStream } from "../../src/lib/buffered-stream.ts";

test("buffered items are dropped when a stream is aborted", async () => {
  const next = Promise.withResolvers<string>();
  const items: string[] = [];
  const ended = Promise.withResolvers<void>();
  async function* deaf(): AsyncGenerator<string> {
    try {
      yield "Once";
      yield await next.promise;
    } finally {
      ended.resolve();
    }
  }
  const stream = new BufferedStream(deaf, (item) => items.push(item));
  await expect.poll(() => items).toEqual(["Once"]);

  stream.abort();
  next.resolve("upon");
  await ended.promise;
  expect(items).toEqual(["Once"]);
});
