import { readFileSync } from "node:fs";
import { isUdpPortFree, probeTcpPort } from "../../../src/worker/process/ports.ts";

const FIRST = 20_000;
/**
 * Where the ranges end: below the ports that Linux assigns to outgoing connections. Such a connection could take a port
 * that was just found free.
 */
const END = Number(readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s/)[0]);
/**
 * How many ports each process in a run has for itself, so that no two processes find the same port free. The run's main
 * process has the first range.
 */
const RANGE_SIZE = 300;
const range = FIRST + Number(process.env["VITEST_POOL_ID"] ?? 0) * RANGE_SIZE;
let next = range + (process.pid % RANGE_SIZE);

/** @returns the first of `count` neighboring ports that are all free, for TCP and UDP */
export async function findFreePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < RANGE_SIZE; attempt++) {
    if (next + count > Math.min(range + RANGE_SIZE, END)) next = range;
    const first = next;
    next += count;
    const ports = Array.from({ length: count }, (_, index) => first + index);
    const free = await Promise.all(
      ports.map(async (port) => (await probeTcpPort(port)) !== undefined && (await isUdpPortFree(port))),
    );
    if (free.every(Boolean)) return first;
  }
  throw new Error(`No ${count} neighboring free ports were found from ${range} on`);
}
