const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const endings = new Set<() => void>();

/**
 * Has `end` called when this process ends before the returned function was called: by Ctrl-C, or with tests that have not
 * closed what they opened. There is no time left to wait for anything.
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

/** As without us: the signal ends the process, unless somebody else listens to it, too. */
function endBy(signal: NodeJS.Signals): void {
  endAll();
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}
