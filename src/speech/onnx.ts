import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { OrtLike } from "./ort-like.ts";

interface OnnxWeb extends OrtLike {
  readonly env: { readonly wasm: { numThreads: number; wasmBinary?: Uint8Array } };
}

/** Loads onnxruntime-web's WebAssembly with a single thread. It blocks the calling thread while it runs. */
export async function loadOnnx(folder: string): Promise<OrtLike> {
  const module: unknown = await import(pathToFileURL(join(folder, "ort.wasm.bundle.min.mjs")).href);
  const ort = module as OnnxWeb;
  ort.env.wasm.numThreads = 1;
  // The bundle targets browsers and would fetch the binary.
  ort.env.wasm.wasmBinary = await readFile(join(folder, "ort-wasm-simd-threaded.wasm"));
  return ort;
}
