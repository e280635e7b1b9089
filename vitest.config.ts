import { join } from "node:path";
import { defineConfig } from "vitest/config";

const root = import.meta.dirname;

export default defineConfig({
  resolve: {
    alias: {
      "@parley/client/forms": join(root, "src/client/forms.ts"),
      "@parley/client": join(root, "src/client/index.ts"),
      "@parley/react": join(root, "clients/react/src/index.ts"),
    },
  },
  test: {
    include: ["test/**/*.test.{ts,tsx}"],
    globalSetup: ["test/support/servers/global-setup.ts"],
    setupFiles: ["test/support/quiet-native-log.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Files of a process share what they import: loading it anew for each is a fifth of the whole run's time.
    isolate: false,
    // Workers, clients and commands that tests start as processes take their compiled modules from here.
    env: { NODE_COMPILE_CACHE: join(root, ".cache/node-compile") },
    // With their browsers, servers and session hosts, two keep two cores busy; with more, tests wait for each other.
    maxWorkers: 2,
  },
});
