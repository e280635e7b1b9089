import { existsSync } from "node:fs";
import { join } from "node:path";
import type { OrtLike } from "../../src/speech/voice/ort-like.ts";

const FOLDER = join(import.meta.dirname, "../../.cache/speech/hibari");

/** Where the voice's files are, once `node scripts/speech/fetch-voice.ts` has run. */
export const VOICE_FOLDER = existsSync(FOLDER) ? FOLDER : undefined;

/** No dependency of this repository. Undefined where it is not installed. */
async function findRuntime(name: string): Promise<OrtLike | undefined> {
  try {
    return (await import(name)) as OrtLike;
  } catch {
    return undefined;
  }
}

export const NODE_RUNTIME = await findRuntime(process.env["ONNXRUNTIME_NODE"] ?? "onnxruntime-node");
export const RUNTIME = NODE_RUNTIME ?? (await findRuntime("onnxruntime-web"));
