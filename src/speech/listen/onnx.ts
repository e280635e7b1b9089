import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export interface Tensor {
  readonly data: ArrayLike<number>;
}

type Values = Readonly<Record<string, Tensor>>;

export interface OnnxModel {
  readonly run: (inputs: Values) => Promise<Values>;
}

/** What we use of onnxruntime. */
export interface OnnxRuntime {
  readonly env: { readonly wasm: { numThreads: number; wasmBinary?: Uint8Array } };
  readonly InferenceSession: {
    readonly create: (model: Uint8Array, options: { readonly intraOpNumThreads: number }) => Promise<OnnxModel>;
  };
  readonly Tensor: new (type: string, data: ArrayLike<number | bigint | boolean>, dims: readonly number[]) => Tensor;
}

/** Loads onnxruntime's WebAssembly with one thread. Its `run` blocks the thread that calls it. */
export async function loadOnnx(folder: string): Promise<OnnxRuntime> {
  const module: unknown = await import(pathToFileURL(join(folder, "ort.wasm.bundle.min.mjs")).href);
  const ort = module as OnnxRuntime;
  ort.env.wasm.numThreads = 1;
  // The bundle is made for browsers, and would fetch it.
  ort.env.wasm.wasmBinary = await readFile(join(folder, "ort-wasm-simd-threaded.wasm"));
  return ort;
}
