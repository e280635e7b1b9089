import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

type Answer = number | "hang" | "endless" | "drop";

interface Received {
  readonly id: string;
  readonly at: number;
  readonly body: { readonly type: string; readonly data: Record<string, unknown> };
}

/** An operator's server that receives webhooks, and verifies them with a receiver library. */
export class WebhookReceiver implements AsyncDisposable {
  readonly secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  /** All webhooks with a valid signature, including those answered with an error. */
  readonly received: Received[] = [];
  /** The responses to send, in order. Once all have been sent, every webhook gets a 204. */
  answers: Answer[] = [];
  readonly #webhook = new Webhook(this.secret);
  readonly #server = createServer((request, response) => void this.#handle(request, response));

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/ended`;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const verified = this.#webhook.verify(body, request.headers as Record<string, string>) as Received["body"];
    this.received.push({ id: String(request.headers["webhook-id"]), at: performance.now(), body: verified });
    const answer = this.answers.shift() ?? 204;
    if (answer === "hang") return;
    if (answer === "drop") return void request.socket.destroy();
    if (answer !== "endless") return void response.writeHead(answer, { location: this.url }).end();
    response.writeHead(200);
    const more = () => response.writable && response.write("more ".repeat(1_000), () => setTimeout(more, 1));
    more();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
