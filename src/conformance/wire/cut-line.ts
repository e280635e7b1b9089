import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";

/** A TCP proxy for LiveKit's signaling. It can break connections, as happens when a phone changes networks. */
export class CutLine implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  private constructor(url: string, server: Server, sockets: Set<Socket>) {
    this.url = url;
    this.#server = server;
    this.#sockets = sockets;
  }

  static async open(livekitUrl: string): Promise<CutLine> {
    const target = new URL(livekitUrl);
    const port = Number(target.port || (target.protocol === "wss:" ? 443 : 80));
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const upstream = createConnection(port, target.hostname);
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      }
      client.pipe(upstream).pipe(client);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = new URL(livekitUrl);
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    return new CutLine(url.href, server, sockets);
  }

  /** Breaks all connections. New ones are accepted immediately. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
  }
}
