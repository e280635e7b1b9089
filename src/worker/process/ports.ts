import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

const LOOPBACK = "127.0.0.1";

/** Whether a TCP server could listen there now. Port 0 gives any free one; undefined means taken. */
export async function probeTcpPort(port: number, host = LOOPBACK): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  } catch {
    return undefined;
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

export async function isUdpPortFree(port: number): Promise<boolean> {
  const socket = createSocket("udp4");
  try {
    socket.bind(port, LOOPBACK);
    await once(socket, "listening");
    return true;
  } catch {
    return false;
  } finally {
    await new Promise<void>((resolve) => {
      socket.once("close", resolve).close();
    });
  }
}

/** Ports that were free a moment ago, and are the first of `count` neighbours that all were. */
export async function findFreePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const first = await probeTcpPort(0);
    if (first === undefined || first + count > 65_535) continue;
    const rest = Array.from({ length: count - 1 }, (_, index) => first + 1 + index);
    const free = await Promise.all(
      rest.map(async (port) => (await probeTcpPort(port)) !== undefined && (await isUdpPortFree(port))),
    );
    if (free.every(Boolean)) return first;
  }
  throw new Error(`No ${count} neighbouring free ports were found`);
}
