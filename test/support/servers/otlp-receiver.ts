import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import {
  decodeLogs,
  decodeMetrics,
  decodeTraces,
  type OtlpLog,
  type OtlpMetric,
  type OtlpSpan,
} from "./otlp-decode.ts";

type Behavior = "take" | "hang" | "refuse";

/** A real OTLP endpoint, which receives protobuf over HTTP and decodes it. */
export class OtlpReceiver implements AsyncDisposable {
  readonly spans: OtlpSpan[] = [];
  readonly metrics: OtlpMetric[] = [];
  readonly logs: OtlpLog[] = [];
  /** Every request body, unmodified, for a test to search for content that must not leak. */
  readonly bodies: Buffer[] = [];
  behavior: Behavior = "take";
  readonly #server = createServer((request, response) => void this.#handle(request, response));

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Everything received, as one text. */
  get text(): string {
    return Buffer.concat(this.bodies).toString("latin1");
  }

  named(name: string): OtlpSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    if (this.behavior === "hang") return;
    if (this.behavior === "refuse") return void response.writeHead(500).end();
    this.bodies.push(body);
    if (request.url === "/v1/traces") this.spans.push(...decodeTraces(body));
    if (request.url === "/v1/metrics") this.metrics.push(...decodeMetrics(body));
    if (request.url === "/v1/logs") this.logs.push(...decodeLogs(body));
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
