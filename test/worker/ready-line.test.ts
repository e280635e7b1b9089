import { expect, test } from "vitest";
import { readyLine } from "../../src/worker/ready-line.ts";

const ready = {
  livekitUrl: "ws://127.0.0.1:7880",
  httpUrl: "http://127.0.0.1:8080",
  databaseUrl: "postgres://…",
  model: "scripted",
};

test("a worker that takes every room says so, as in the quickstart", () => {
  expect(readyLine(ready, { httpPort: 8080, livekitAgentName: undefined })).toBe(
    "ready: scripted in every room of ws://127.0.0.1:7880, HTTP at http://127.0.0.1:8080. Talk to it: npm run talk",
  );
});

test("a worker with a name says that it takes only rooms that are dispatched to it", () => {
  const grpcUrl = "http://127.0.0.1:8082";

  expect(readyLine({ ...ready, grpcUrl }, { httpPort: 8090, livekitAgentName: "billing" })).toBe(
    'ready: scripted in the rooms of ws://127.0.0.1:7880 that are dispatched to "billing", ' +
      "HTTP at http://127.0.0.1:8080, gRPC at http://127.0.0.1:8082. Talk to it: HTTP_PORT=8090 npm run talk",
  );
});
