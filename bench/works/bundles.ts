import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

const SDK = join(import.meta.dirname, "../../src/client/index.ts");
const CLIENTS = join(import.meta.dirname, "../peers/clients");

/** The imports of each page whose size is measured, by the page's title. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  "Parley's SDK alone": [SDK],
  "livekit-client alone": ["livekit-client"],
  "Parley's SDK and livekit-client": [SDK, "livekit-client"],
  "@elevenlabs/client (has livekit-client in it)": ["@elevenlabs/client"],
  "@pipecat-ai/client-js and its small WebRTC transport": [
    "@pipecat-ai/client-js",
    "@pipecat-ai/small-webrtc-transport",
  ],
};

/** Returns the pages' sizes in kB by title: bundled for browsers, minified and gzipped. */
export async function measureBundles(): Promise<Readonly<Record<string, number>>> {
  // This folder is next to node_modules, so that the imports of its pages can be resolved.
  const folder = await mkdtemp(join(CLIENTS, "page-"));
  try {
    const sizes = Object.entries(PAGES).map(async ([title, names], index) => {
      const input = join(folder, `page-${index}.ts`);
      await writeFile(input, names.map((name) => `export * from ${JSON.stringify(name)};\n`).join(""));
      return [title, await sizeOf(input)] as const;
    });
    return Object.fromEntries(await Promise.all(sizes));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function sizeOf(input: string): Promise<number> {
  await using bundle = await rolldown({ input, platform: "browser", logLevel: "silent" });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  const bytes = output.reduce((sum, file) => sum + gzipSync("code" in file ? file.code : file.source).length, 0);
  return Math.round(bytes / 100) / 10;
}
