import { defineConfig } from "vitest/config";

/** Benches print results. They are not tests, and `npm test` does not run them. */
export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["bench/**/*.bench.ts"],
    globalSetup: ["test/support/servers/global-setup.ts"],
    testTimeout: 300_000,
    pool: "forks",
    maxWorkers: 1,
  },
});
