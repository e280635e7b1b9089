import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { AudioFrame } from "@livekit/rtc-node";
import { OpusDecoder } from "opus-decoder";
import prism from "prism-media";
import { toAudioFrame, toMono } from "../../livekit/audio-frame.ts";

/** Opus is decoded to this rate. */
const OPUS_RATE = 16_000;
const PCM_RATES = { min: 8_000, max: 48_000 };
const PCM_FRAME_MS = 100;
/** The rest of a longer recording is ignored. LiveKit's clients record 10 s at most. */
const MAX_SECONDS = 15;

/** A short recording as LiveKit's clients send it. */
export interface Recording {
  /** WebM with Opus from browsers, 16-bit PCM from all other clients. */
  readonly mimeType: string;
  /** The sample rate of PCM. Ignored for Opus. */
  readonly sampleRate: number;
  /** The number of channels of PCM. Ignored for Opus. */
  readonly channels: number;
  readonly chunks: readonly Uint8Array[];
}

/**
 * Returns up to 15 s of a recording as mono frames: PCM at its own sample rate, Opus at 16 kHz.
 *
 * @throws {Error} if the format is not supported, or the bytes are not in that format
 */
export async function decodeRecording(recording: Recording): Promise<AudioFrame[]> {
  const { mimeType } = recording;
  if (/opus/i.test(mimeType)) return decodeWebm(recording.chunks);
  // Safari before 18.4 records AAC in MP4.
  if (/mp4|ogg|webm/i.test(mimeType)) throw new TypeError(`Audio of type ${mimeType} is not supported`);
  return readPcm(recording);
}

async function decodeWebm(chunks: readonly Uint8Array[]): Promise<AudioFrame[]> {
  const decoder = new OpusDecoder({ sampleRate: OPUS_RATE, channels: 1 });
  await decoder.ready;
  const frames: AudioFrame[] = [];
  let samples = 0;
  try {
    const packets: AsyncIterable<Uint8Array> = Readable.from(chunks).pipe(new prism.opus.WebmDemuxer());
    for await (const packet of packets) {
      const { channelData, samplesDecoded, errors } = decoder.decodeFrame(packet);
      if (errors[0]) throw new Error(`The recording is damaged: ${errors[0].message}`);
      const sound = channelData[0]?.subarray(0, samplesDecoded) ?? [];
      if (samplesDecoded > 0) frames.push(toAudioFrame(toInt16(sound), OPUS_RATE));
      samples += samplesDecoded;
      if (samples >= MAX_SECONDS * OPUS_RATE) break;
      // A second of sound takes 10 ms, and other sessions run in this process.
      await setImmediate();
    }
  } finally {
    decoder.free();
  }
  return frames;
}

function toInt16(sound: ArrayLike<number>): Int16Array {
  return Int16Array.from(sound, (sample) => Math.max(-1, Math.min(1, sample)) * 32_767);
}

function readPcm({ sampleRate, channels, chunks }: Recording): AudioFrame[] {
  if (!(Number.isInteger(sampleRate) && sampleRate >= PCM_RATES.min && sampleRate <= PCM_RATES.max))
    throw new TypeError(`A sample rate of ${sampleRate} is not supported`);
  if (channels !== 1 && channels !== 2) throw new TypeError(`Audio with ${channels} channels is not supported`);
  const bytes = Buffer.concat(chunks);
  const bytesPerSample = 2 * channels;
  const length = Math.min(MAX_SECONDS * sampleRate, Math.floor(bytes.length / bytesPerSample));
  const samples = new Int16Array(new Uint8Array(bytes.subarray(0, length * bytesPerSample)).buffer);
  const frameLength = Math.round((sampleRate * PCM_FRAME_MS) / 1000) * channels;
  return Array.from({ length: Math.ceil(samples.length / frameLength) }, (_, index) => {
    const data = samples.subarray(index * frameLength, (index + 1) * frameLength);
    return toAudioFrame(toMono({ data, channels }), sampleRate);
  });
}
