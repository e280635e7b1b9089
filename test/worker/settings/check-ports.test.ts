import { createServer } from "node:net";
import { once } from "node:events";
import { expect, test } from "vitest";
import type { Config } from "../../../src/worker/config.ts";
import { checkPorts } from "../../../src/worker/settings/check-ports.ts";

const PORTS = { httpHost: "127.0.0.1", httpPort: 0, workerPort: 0, postgresPort: 0, databaseUrl: "postgres://x" };
const check = (ports: Partial<Config>) =>
  checkPorts({ ...PORTS, livekitUrl: "ws://127.0.0.1:1", ...ports } as unknown as Config, false);

test.each([6_000, 6_665, 10_080])(
  "a LiveKit port that browsers and fetch refuse is reported: %s",
  async (livekitPort) => {
    await expect(check({ livekitUrl: undefined, livekitPort })).rejects.toThrow(
      `LIVEKIT_PORT: expected a port that browsers and fetch can connect to, got ${livekitPort}, which they block`,
    );
  },
);

test("a port that is in use is reported", async () => {
  await using server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const workerPort = typeof address === "object" ? (address?.port ?? 0) : 0;

  await expect(check({ workerPort })).rejects.toThrow(
    `WORKER_PORT: expected a free port, got ${workerPort}, which is in use on 127.0.0.1`,
  );
});
