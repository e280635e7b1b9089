import { expect, test } from "vitest";
import { z } from "zod";
import fetchUrl from "../../../tools/web/fetch-url.ts";
import { runTool } from "../run-tool.ts";
import { listen } from "./local-server.ts";

test.each([
  "http://127.0.0.1:{port}/",
  "http://localhost:{port}/",
  "http://localhost.:{port}/",
  "http://0x7f.1:{port}/",
  "http://2130706433:{port}/",
  "http://017700000001:{port}/",
  "http://0.0.0.0:{port}/",
  "http://[::1]:{port}/",
  "http://[::ffff:7f00:1]:{port}/",
  "http://[fd00::1]:{port}/",
  "http://169.254.169.254/latest/meta-data/",
])("the tool itself never reaches %s", async (template) => {
  await using server = await listen((_request, response) => response.end("secret"));
  const url = template.replace("{port}", String(server.port));
  await expect(runTool(fetchUrl, { url })).rejects.toThrow(/is not on the public internet|was not found/);
  expect(server.requests).toEqual([]);
});

test.each(["file:///etc/passwd", "gopher://127.0.0.1/", "http://a@127.0.0.1/"])("%s is refused", async (url) => {
  await expect(runTool(fetchUrl, { url })).rejects.toThrow(/Only http and https|user name or password/);
});

test("an aborted call does not start", async () => {
  const stop = new Error("stop");
  await expect(runTool(fetchUrl, { url: "http://1.1.1.1/" }, { signal: AbortSignal.abort(stop) })).rejects.toBe(stop);
});

test.each([{}, { url: 1 }, { url: "x".repeat(3_000) }, { url: "http://a.test/", resolve: "127.0.0.1" }])(
  "the input %j is refused by the schema",
  async (input) => {
    await expect(runTool(fetchUrl, input)).rejects.toThrow(z.ZodError);
  },
);
