import type { AudioFrame } from "@livekit/rtc-node";
import type { Sound } from "../../agent/wav.ts";
import { resampleMono, toAudioFrame } from "../../livekit/audio-frame.ts";

/** The sample rate of all frames. */
export const BACKGROUND_RATE = 24_000;
const FRAME_SAMPLES = BACKGROUND_RATE / 50;
/** Of 32,767. Speech reaches about twenty times as much. */
const CHIME_PEAK = 1_200;
const CHIME_EVERY_S = 2;
const CHIME_TONES = [
  { hz: 330, atS: 0 },
  { hz: 440, atS: 0.15 },
] as const;

/** Returns Parley's own sound of thinking: two soft tones, followed by silence. */
export function chime(): Sound {
  const samples = new Int16Array(CHIME_EVERY_S * BACKGROUND_RATE);
  for (const { hz, atS } of CHIME_TONES)
    for (let at = atS * BACKGROUND_RATE; at < samples.length; at++) {
      const seconds = at / BACKGROUND_RATE - atS;
      const level = CHIME_PEAK * Math.min(1, seconds / 0.01) * Math.exp(-seconds / 0.1);
      samples[at] = (samples[at] ?? 0) + level * Math.sin(2 * Math.PI * hz * seconds);
    }
  return { samples, sampleRate: BACKGROUND_RATE };
}

/** Returns a sound in frames of 20 ms. The last one is filled with silence. */
export function framesOf({ samples, sampleRate }: Sound): readonly AudioFrame[] {
  const all = resampleMono(samples, sampleRate, BACKGROUND_RATE);
  return Array.from({ length: Math.ceil(all.length / FRAME_SAMPLES) }, (_, index) => {
    const frame = new Int16Array(FRAME_SAMPLES);
    frame.set(all.subarray(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES));
    return toAudioFrame(frame, BACKGROUND_RATE);
  });
}

export function* repeated<Part>(parts: readonly Part[]): Generator<Part> {
  for (;;) yield* parts;
}
