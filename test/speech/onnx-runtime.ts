import { join } from "node:path";
import { loadOnnx } from "../../src/speech/onnx.ts";
import type { OrtLike } from "../../src/speech/ort-like.ts";
import { fetchSpeechFiles, VOICE_PARTS } from "../../src/speech/speech-files.ts";

const FOLDER = join(import.meta.dirname, "../../.cache/speech");

await fetchSpeechFiles(FOLDER, VOICE_PARTS, () => {});

export const VOICE_FOLDER = join(FOLDER, "hibari");

/**
 * Loads onnxruntime-node from the module that `ONNXRUNTIME_NODE` names. Returns `undefined` without this variable,
 * because this repository does not depend on the package.
 */
async function findNodeRuntime(): Promise<OrtLike | undefined> {
  const name = process.env["ONNXRUNTIME_NODE"];
  return name === undefined ? undefined : ((await import(name)) as OrtLike);
}

export const NODE_RUNTIME = await findNodeRuntime();
export const RUNTIME = NODE_RUNTIME ?? (await loadOnnx(join(FOLDER, "runtime")));
