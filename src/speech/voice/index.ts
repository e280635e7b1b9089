import type { OrtLike } from "../ort-like.ts";
import { Voice } from "./voice.ts";

export type { OrtLike } from "../ort-like.ts";
export type { Speech, Voice } from "./voice.ts";
export type { SpokenWord } from "./word-times.ts";

/**
 * Loads the voice of the wheel `hibari-tts` from a folder that contains its files.
 *
 * @param ort `onnxruntime-node` or `onnxruntime-web`
 */
export async function createVoice(folder: string, ort: OrtLike): Promise<Voice> {
  return await Voice.load(folder, ort);
}
