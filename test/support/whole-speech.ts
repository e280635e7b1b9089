import type { Speech } from "../../src/speech/voice/voice.ts";

/** Joins the pieces of a spoken text. Times of words are from the start of the whole sound. */
export async function wholeSpeech(pieces: AsyncIterable<Speech>): Promise<Speech> {
  const all = await Array.fromAsync(pieces);
  const samples = new Float32Array(all.reduce((sum, piece) => sum + piece.samples.length, 0));
  const words: Speech["words"][number][] = [];
  const sampleRate = all[0]?.sampleRate ?? 24_000;
  let at = 0;
  for (const piece of all) {
    const startMs = (at / sampleRate) * 1_000;
    words.push(
      ...piece.words.map((word) => ({ ...word, startMs: startMs + word.startMs, endMs: startMs + word.endMs })),
    );
    samples.set(piece.samples, at);
    at += piece.samples.length;
  }
  return { samples, sampleRate, words };
}
