import { monitorEventLoopDelay } from "node:perf_hooks";

/** What the load driver itself cost. It shares the machine with the worker, and measures too much when it is late. */
export interface DriverCost {
  /** In percent of one core. */
  readonly cpuPercent: number;
  /** How late its timers were, in milliseconds: the 99th percentile. */
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
      // Node measures the time between two timers, so the interval itself is taken off.
      lateMs: Math.max(0, Math.round(delays.percentile(99) / 1e6 - RESOLUTION_MS)),
    };
  };
}
