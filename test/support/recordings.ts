import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The number of samples per second of all recordings. */
export const RECORDING_RATE = 16_000;
const WAV_HEADER_BYTES = 44;
const FOLDER = join(import.meta.dirname, "../fixtures/recordings");

/** Reads a recording of a person, such as `ten-of-clubs`: 16-bit samples of one channel. */
export async function recording(name: string): Promise<Int16Array> {
  const { buffer, byteOffset, length } = await readFile(join(FOLDER, `${name}.wav`));
  return new Int16Array(buffer.slice(byteOffset + WAV_HEADER_BYTES, byteOffset + length));
}

/** Reads the recording `ten-of-clubs` as Chromium's MediaRecorder has recorded it: WebM with Opus. */
export async function browserRecording(): Promise<Buffer> {
  return readFile(join(FOLDER, "ten-of-clubs.webm"));
}

export function silence(ms: number): Int16Array {
  return new Int16Array(Math.round((ms * RECORDING_RATE) / 1_000));
}

export function joined(...parts: readonly Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]));
}
