import module, { createRequire } from "node:module";
import type postgres from "postgres";

/**
 * Patches for postgres.js 3.4.9, as pairs of original and replacement code.
 * - When a connection closes, its pending bytes and its scheduled write are not reset. The next connection then never
 *   sends a byte, and its query hangs (porsager/postgres#1209).
 * - Over TLS, a query that is sent between a connection's error and its close is lost.
 */
const PATCHES = [
  ["\n    clearImmediate(nextWriteTimer)\n", "\n    clearImmediate(nextWriteTimer); chunk = nextWriteTimer = null\n"],
  ["!hadError && (query || sent.length) && error(", "; (query || sent.length) && error("],
] as const;

/**
 * postgres.js, patched while it is loaded. This copy is private: other code that loads postgres.js gets the original.
 */
export const driver = load();

function load(): typeof postgres {
  const hooks = module.registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith("/postgres/cjs/src/connection.js") || !loaded.source) return loaded;
      const patch = (source: string, [original, replacement]: (typeof PATCHES)[number]) =>
        source.replaceAll(original, replacement);
      return { ...loaded, source: PATCHES.reduce(patch, Buffer.from(loaded.source as string).toString()) };
    },
  });
  try {
    return createRequire(import.meta.url)("postgres") as typeof postgres;
  } finally {
    hooks.deregister();
  }
}
