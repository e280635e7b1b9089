import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";

/** Of it zod/mini takes about 9 kB and @msgpack/msgpack 6 kB. */
const LIMIT_BYTES = 29_800;

test(`the bundle of the client SDK is at most ${LIMIT_BYTES} bytes`, async () => {
  const bundle = await rolldown({
    input: "src/client/index.ts",
    platform: "browser",
    external: [/^livekit-client/, /^@livekit\//],
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  await bundle.close();

  const sizeBytes = output.reduce(
    (total, file) => total + gzipSync("code" in file ? file.code : file.source).length,
    0,
  );
  process.stdout.write(`The client SDK, bundled, minified and gzipped: ${sizeBytes} bytes\n`);

  expect(output.flatMap((file) => ("imports" in file ? file.imports : []))).toEqual([]);
  expect(sizeBytes).toBeLessThanOrEqual(LIMIT_BYTES);
  expect(sizeBytes, "lower the limit").toBeGreaterThan(LIMIT_BYTES - 2_000);
});
