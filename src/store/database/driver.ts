import module, { createRequire } from "node:module";
import type postgres from "postgres";

/**
 * What is wrong in postgres.js 3.4.9, and what stands in its place. What is about to be written when a connection closes
 * stays, and with it the belief that its write is due: the connection that takes the place never sends a byte, and the
 * query that waits for it never ends (porsager/postgres#1209). Over TLS, a query that is sent between a connection's
 * error and its close is forgotten.
 */
const MENDED = [
  ["\n    clearImmediate(nextWriteTimer)\n", "\n    clearImmediate(nextWriteTimer); chunk = nextWriteTimer = null\n"],
  ["!hadError && (query || sent.length) && error(", "; (query || sent.length) && error("],
] as const;

/** postgres.js, mended while it is loaded. It is a copy of its own: what else loads postgres.js gets it as it is. */
export const driver = load();

function load(): typeof postgres {
  const hooks = module.registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith("/postgres/cjs/src/connection.js") || !loaded.source) return loaded;
      const mend = (source: string, [fault, mended]: (typeof MENDED)[number]) => source.replaceAll(fault, mended);
      return { ...loaded, source: MENDED.reduce(mend, Buffer.from(loaded.source as string).toString()) };
    },
  });
  try {
    return createRequire(import.meta.url)("postgres") as typeof postgres;
  } finally {
    hooks.deregister();
  }
}
