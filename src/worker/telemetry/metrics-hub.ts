import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type Service } from "../services/service.ts";
import { MetricsTotal } from "./metrics-total.ts";

/** The variable by which job processes inherit where the hub is. */
export const METRICS_HUB = "PARLEY_METRICS_HUB";
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export interface MetricsHub extends Service {
  /** Where job processes hand in what they measured; a random path keeps others out. */
  readonly url: string;
  /** All of it, for Prometheus. */
  readonly render: () => string;
}

/** Gathers the measurements of job processes in the main one, on a port of its own that is open to this machine only. */
export async function openMetricsHub(): Promise<MetricsHub> {
  const total = new MetricsTotal();
  const path = `/${randomBytes(24).toString("hex")}`;
  const server = createServer((request, response) => {
    const answer = (status: number) => response.writeHead(status, { connection: "close" }).end();
    if (request.method !== "POST" || !isSame(request.url ?? "", path)) {
      answer(404);
      return;
    }
    void read(request).then(
      (body) => answer(total.add(body) ? 204 : 400),
      () => answer(400),
    );
  });
  server.unref();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    render: () => total.render(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

async function read(request: IncomingMessage): Promise<unknown> {
  if (Number(request.headers["content-length"] ?? Infinity) > MAX_BODY_BYTES) throw new RangeError("Too large");
  return await json(request);
}
