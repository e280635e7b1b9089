import { once } from "node:events";
import { createConnection, createServer, type AddressInfo, type Socket } from "node:net";

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** The first bytes from the client. For HTTP, this includes the requested path. */
  head: string;
}

/**
 * A TCP proxy for a database, or for LiveKit's signaling, that can be slow, silent or gone. `await using` closes it.
 * The bytes of each direction keep their order. Only `cut` and `loseNextAnswer` lose anything.
 */
export class TcpProxy {
  /** The server's URL, with the proxy's address. */
  readonly url: string;
  /** The delay added to each response from the database. */
  delayMs = 0;
  /** Whether new connections are closed immediately. */
  isRefusing = false;
  /** The number of bytes that the database has sent. */
  answeredBytes = 0;
  /** The number of connections made so far. */
  connectionCount = 0;
  #isPaused = false;
  #isAnswerLost = false;
  readonly #links = new Set<Link>();
  readonly #close: () => void;

  private constructor(url: string, close: () => void) {
    this.url = url;
    this.#close = close;
  }

  static async start(databaseUrl: string): Promise<TcpProxy> {
    const target = new URL(databaseUrl);
    const listener = createServer((client) => proxy.#accept(client, target)).listen(0, "127.0.0.1");
    await once(listener, "listening");
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const proxy = new TcpProxy(url.href, () => listener.close());
    return proxy;
  }

  /** Stops all traffic, but keeps the connections open. */
  pause(): void {
    this.#isPaused = true;
    for (const { client, server } of this.#links) {
      client.pause();
      server.pause();
    }
  }

  resume(): void {
    this.#isPaused = false;
    for (const { client, server } of this.#links) {
      client.resume();
      server.resume();
    }
  }

  /** Breaks all connections, or those whose first bytes match. Returns how many. */
  cut(isMeant: (head: string) => boolean = () => true): number {
    const links = [...this.#links].filter(({ head }) => isMeant(head));
    for (const link of links) {
      link.client.resetAndDestroy();
      link.server.destroy();
      this.#links.delete(link);
    }
    return links.length;
  }

  /** Makes the database's next response break the connection instead of arriving. */
  loseNextAnswer(): void {
    this.#isAnswerLost = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#close();
  }

  #accept(client: Socket, target: URL): void {
    this.connectionCount += 1;
    if (this.isRefusing) return void client.destroy();
    const server = createConnection(Number(target.port || 5432), target.hostname);
    const link: Link = { client, server, head: "" };
    this.#links.add(link);
    const end = () => {
      client.destroy();
      server.destroy();
      this.#links.delete(link);
    };
    for (const socket of [client, server]) socket.setNoDelay(true).on("error", end).on("close", end);
    client.once("data", (bytes: Buffer) => (link.head = bytes.toString("latin1")));
    client.on("data", (bytes) => server.write(bytes));
    server.on("data", (bytes) => this.#answer(link, bytes));
    if (this.#isPaused) client.pause();
  }

  #answer({ client, server }: Link, bytes: Buffer): void {
    this.answeredBytes += bytes.length;
    if (this.#isAnswerLost) {
      this.#isAnswerLost = false;
      client.resetAndDestroy();
      server.destroy();
    } else if (this.delayMs > 0) {
      setTimeout(() => client.write(bytes), this.delayMs).unref();
    } else {
      client.write(bytes);
    }
  }
}
