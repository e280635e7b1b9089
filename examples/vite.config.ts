import { join } from "node:path";
import { defineConfig } from "vite";

const ROOT = join(import.meta.dirname, "..");
const worker = { target: `http://127.0.0.1:${process.env["HTTP_PORT"] ?? "8080"}`, changeOrigin: true };

// Your own project needs no aliases, because both packages are installed there.
export default defineConfig({
  resolve: {
    alias: {
      "@parley/client/forms": join(ROOT, "src/client/forms.ts"),
      "@parley/client": join(ROOT, "src/client/index.ts"),
      "@parley/react": join(ROOT, "clients/react/src/index.ts"),
    },
  },
  server: { proxy: { "/token": worker } },
  preview: { proxy: { "/token": worker } },
  build: { chunkSizeWarningLimit: 1_000 },
});
