import { monitorEventLoopDelay } from "node:perf_hooks";

/**
 * The cost of the load driver itself. The driver shares the machine with the worker. If the driver is late, its
 * measurements are too high.
 */
export interface DriverCost {
  /** CPU time, in percent of one core. */
  readonly cpuPercent: number;
  /** Timer delay in milliseconds, 99th percentile. */
  readonly lateMs: number;
}

const RESOLUTION_MS = 10;

/** Starts measuring this process. Returns a function that stops and returns the result. */
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
      // Node reports the time from one timer event to the next, so subtract the timer's interval.
      lateMs: Math.max(0, Math.round(delays.percentile(99) / 1e6 - RESOLUTION_MS)),
    };
  };
}
