import { join } from "node:path";
import { defineConfig } from "vite";

const ROOT = join(import.meta.dirname, "..");

export default defineConfig({
  root: import.meta.dirname,
  resolve: {
    alias: {
      "@parley/client/forms": join(ROOT, "src/client/forms.ts"),
      "@parley/client": join(ROOT, "src/client/index.ts"),
      "@parley/react": join(ROOT, "clients/react/src/index.ts"),
    },
    dedupe: ["react", "react-dom"],
  },
  build: {
    outDir: join(ROOT, "web/dist"),
    emptyOutDir: true,
    // Inlined files would have `data:` addresses, which the page's policy does not allow for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // livekit-client alone is larger than Vite's default limit.
    chunkSizeWarningLimit: 1_000,
  },
});
