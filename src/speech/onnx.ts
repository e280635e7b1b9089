import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { OrtLike } from "./ort-like.ts";

/** A package of native code, which an author may install: it takes half the time and memory of WebAssembly. */
const NATIVE_RUNTIME = "onnxruntime-node";

interface OnnxWeb extends OrtLike {
  readonly env: { readonly wasm: { numThreads: number; wasmBinary?: Uint8Array } };
}

/** Loads onnxruntime-node if it is installed, and otherwise onnxruntime-web from the folder. */
export async function loadOnnx(folder: string): Promise<OrtLike> {
  return (await loadNative()) ?? loadWeb(folder);
}

async function loadNative(): Promise<OrtLike | undefined> {
  try {
    return (await import(NATIVE_RUNTIME)) as OrtLike;
  } catch {
    // It is not installed, or not built for this machine.
    return undefined;
  }
}

/** Loads onnxruntime-web's WebAssembly with a single thread. It blocks the calling thread while it runs. */
async function loadWeb(folder: string): Promise<OrtLike> {
  const module: unknown = await import(pathToFileURL(join(folder, "ort.wasm.bundle.min.mjs")).href);
  const ort = module as OnnxWeb;
  ort.env.wasm.numThreads = 1;
  // Provide the binary, because the bundle targets browsers and would fetch it.
  ort.env.wasm.wasmBinary = await readFile(join(folder, "ort-wasm-simd-threaded.wasm"));
  return ort;
}
