import { join } from "node:path";
import { defineConfig } from "vitest/config";

const root = join(import.meta.dirname, "../..");

export default defineConfig({
  resolve: { alias: { "@parley/client": join(root, "src/client/index.ts") } },
  test: {
    root,
    include: ["test/compose/*.test.ts"],
    globalSetup: ["test/compose/support/global-setup.ts"],
    setupFiles: ["test/support/quiet-native-log.ts"],
    // The tests wait for containers that start, stop and restart. The containers' own time limits are in the compose
    // files.
    testTimeout: 120_000,
    hookTimeout: 300_000,
    // All test files use the same ports: those in the compose files.
    fileParallelism: false,
    sequence: { concurrent: false },
  },
});
