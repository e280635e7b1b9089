import { monitorEventLoopDelay } from "node:perf_hooks";

/** What the driver itself cost: it shares the machine with what it measures, and what it sees late it measures late. */
export interface DriverCost {
  /** Of one core. */
  readonly cpuPercent: number;
  /** By how much its timers were late, in milliseconds: 99 of 100 by less. */
  readonly lateMs: number;
}

const RESOLUTION_MS = 10;

/** Measures this process until the returned function is called. */
export function measureDriver(): () => DriverCost {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const startedAt = performance.now();
  const before = process.cpuUsage();
  delays.enable();
  return () => {
    delays.disable();
    const { user, system } = process.cpuUsage(before);
    const cpuMs = (user + system) / 1_000;
    return {
      cpuPercent: Math.round((100 * cpuMs) / (performance.now() - startedAt)),
      // Node counts from timer to timer.
      lateMs: Math.max(0, Math.round(delays.percentile(99) / 1e6 - RESOLUTION_MS)),
    };
  };
}
