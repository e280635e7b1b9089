import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown, type OutputAsset, type OutputChunk } from "rolldown";
import { expect, test } from "vitest";

const SDK = join(import.meta.dirname, "../../src/client/index.ts");
/** How large the SDK may be on its own, minified and gzipped. About 1.6 kB of it is valibot. */
const LIMIT_BYTES = 27_000;
/** How much the SDK may add to an application that already uses zod. It must not add any part of zod a second time. */
const ADDED_LIMIT_BYTES = 26_500;

async function bundled(input: string): Promise<(OutputAsset | OutputChunk)[]> {
  const bundle = await rolldown({ input, platform: "browser", external: [/^livekit-client/, /^@livekit\//] });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  await bundle.close();
  return output;
}

function sizeOf(output: readonly (OutputAsset | OutputChunk)[]): number {
  return output.reduce((total, file) => total + gzipSync("code" in file ? file.code : file.source).length, 0);
}

test(`the bundle of the client SDK is at most ${LIMIT_BYTES} bytes`, async () => {
  const output = await bundled(SDK);

  const sizeBytes = sizeOf(output);
  process.stdout.write(`The client SDK, bundled, minified and gzipped: ${sizeBytes} bytes\n`);

  expect(output.flatMap((file) => ("imports" in file ? file.imports : []))).toEqual([]);
  expect(sizeBytes).toBeLessThanOrEqual(LIMIT_BYTES);
  expect(sizeBytes, "lower the limit").toBeGreaterThan(LIMIT_BYTES - 2_000);
});

test(`an application that uses zod grows by at most ${ADDED_LIMIT_BYTES} bytes`, async () => {
  // In the repository, so that imports resolve to its node_modules.
  const folder = await mkdtemp(join(import.meta.dirname, "../../.cache/size-"));
  try {
    const app = 'import { z } from "zod"; console.log(z.object({ theme: z.enum(["light", "dark"]) }));\n';
    const [without, withSdk] = [join(folder, "without.ts"), join(folder, "with.ts")];
    await writeFile(without, app);
    await writeFile(withSdk, `${app}import { connect } from ${JSON.stringify(SDK)}; console.log(connect);\n`);
    const addedBytes = sizeOf(await bundled(withSdk)) - sizeOf(await bundled(without));
    process.stdout.write(`The client SDK adds to an application with zod: ${addedBytes} bytes\n`);

    expect(addedBytes).toBeLessThanOrEqual(ADDED_LIMIT_BYTES);
    expect(addedBytes, "lower the limit").toBeGreaterThan(ADDED_LIMIT_BYTES - 2_000);
  } finally {
    await rm(folder, { recursive: true });
  }
});
