const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const endings = new Set<() => void>();

/**
 * Calls `end` if this process exits before the returned function is called: on Ctrl-C, or because tests did not close
 * what they opened. `end` must be synchronous, because an exiting process does not wait.
 */
export function endWithProcess(end: () => void): () => void {
  if (endings.size === 0) watch();
  endings.add(end);
  return () => {
    endings.delete(end);
    if (endings.size === 0) unwatch();
  };
}

function watch(): void {
  process.on("exit", endAll);
  for (const signal of SIGNALS) process.on(signal, endBy);
}

function unwatch(): void {
  process.off("exit", endAll);
  for (const signal of SIGNALS) process.off(signal, endBy);
}

function endAll(): void {
  unwatch();
  for (const end of endings) end();
  endings.clear();
}

/** Ends everything, and then keeps the default behavior: the signal ends the process unless it has another listener. */
function endBy(signal: NodeJS.Signals): void {
  endAll();
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}
