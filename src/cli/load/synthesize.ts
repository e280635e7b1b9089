import { loadRtcNode } from "../../livekit/load-rtc-node.ts";
import { TalkError } from "../talk/talk-error.ts";

/** Samples a second of all sound of the driver; recognisers work with the same rate. */
export const SAMPLE_RATE = 16_000;
const BLOCK_SAMPLES = SAMPLE_RATE / 100;
/** Root mean square of 16-bit samples above which 10 ms are sound. */
const LOUD = 200;

/** Speaks a text with espeak-ng, without the silence at its end. @throws {TalkError} */
export async function synthesize(text: string): Promise<Int16Array> {
  const { AudioResampler } = await loadRtcNode();
  // Imported only when it is needed, and after loadRtcNode, because it imports rtc-node itself.
  const { EspeakSynthesizer, findEspeak } = await import("../../voice/providers/espeak/espeak-synthesizer.ts");
  const espeak = await findEspeak(process.env);
  if (!espeak) throw new TalkError("--voice: no espeak-ng is installed here, neither the program nor the npm package");
  const synthesizer = new EspeakSynthesizer(espeak, "en");
  const { signal } = new AbortController();
  const words = async function* () {
    yield text;
  };
  const samples: number[] = [];
  let resampler: InstanceType<typeof AudioResampler> | undefined;
  for await (const frame of synthesizer.speak(words(), { language: "en", signal })) {
    resampler ??= new AudioResampler(frame.sampleRate, SAMPLE_RATE);
    for (const { data } of resampler.push(frame)) samples.push(...data);
  }
  for (const { data } of resampler?.flush() ?? []) samples.push(...data);
  resampler?.close();
  await synthesizer.close();
  return Int16Array.from(samples.slice(0, endOfSound(Int16Array.from(samples))));
}

/** Where sound begins; undefined: nowhere. */
export function startOfSound(samples: Int16Array): number | undefined {
  for (let at = 0; at < samples.length; at += BLOCK_SAMPLES) if (isLoud(samples, at)) return at;
  return undefined;
}

/** Where sound ends; 0 when there is none. */
export function endOfSound(samples: Int16Array): number {
  for (let end = samples.length; end > 0; end -= BLOCK_SAMPLES)
    if (isLoud(samples, Math.max(0, end - BLOCK_SAMPLES))) return end;
  return 0;
}

function isLoud(samples: Int16Array, from: number): boolean {
  const block = samples.subarray(from, from + BLOCK_SAMPLES);
  return block.reduce((sum, sample) => sum + sample * sample, 0) > LOUD * LOUD * block.length;
}
