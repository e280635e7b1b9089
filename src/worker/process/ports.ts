import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

const LOOPBACK = "127.0.0.1";

/** Returns a port on which a TCP server can listen: `port`, or any free port for 0. `undefined` if `port` is in use. */
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

const TRIES = 50;

/** Finds a free TCP port for livekit-server's signaling. The next port is also free, for media over UDP. */
export async function findLivekitPort(): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const first = 21_000 + Math.floor(Math.random() * 10_000);
    if ((await probeTcpPort(first)) !== undefined && (await isUdpPortFree(first + 1))) return first;
  }
  throw new Error("No two adjacent ports are free for livekit-server");
}
