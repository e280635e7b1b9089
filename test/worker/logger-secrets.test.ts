import { expect, test } from "vitest";
import { createLogger } from "../../src/worker/logger.ts";

test("no log line contains a user or password from an address, or a token", () => {
  const lines: string[] = [];
  const output = { write: (line: string) => lines.push(line) };
  const logger = createLogger({ logLevel: "info", isDevelopment: true }, { output });
  const error = new Error("bad proxy http://me:hunter2@proxy:3128", {
    cause: new Error("Authorization: Bearer hunter2hunter2"),
  });

  logger.warn({ error, apiMessage: "Received API Key = sk-hunter2hunter2" }, "request failed");

  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    error: { stack: expect.stringContaining("Error: bad proxy http://proxy:3128\n") },
  });
  expect(lines.join()).not.toMatch(/hunter2|me:/u);
});
