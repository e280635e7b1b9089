/** A sound with one channel. */
export interface Sound {
  readonly samples: Int16Array;
  /** In samples per second. */
  readonly sampleRate: number;
}

const PCM = 1;
/** The format is described in more detail. Files of 16 bits in this form contain PCM. */
const EXTENSIBLE = 0xff_fe;
const CHUNK_HEADER_BYTES = 8;
const MAX_BYTES = 10 * 1024 * 1024;

/** Returns the sound of a WAV file with 16-bit samples, with its channels mixed into one. @throws {TypeError} */
export function parseWav(file: Buffer): Sound {
  if (file.length > MAX_BYTES) throw new TypeError(`expected at most ${MAX_BYTES} bytes, got ${file.length}`);
  const { format, data } = chunksOf(file);
  if (!format || format.length < 16 || !data) throw new TypeError("expected a WAV file");
  const [encoding, channels, bits] = [format.readUInt16LE(0), format.readUInt16LE(2), format.readUInt16LE(14)];
  if ((encoding !== PCM && encoding !== EXTENSIBLE) || bits !== 16 || channels === 0)
    throw new TypeError("expected a WAV file with 16-bit PCM samples");
  const sampleRate = format.readUInt32LE(4);
  if (sampleRate < 8_000 || sampleRate > 48_000)
    throw new TypeError(`expected 8000 to 48000 samples per second, got ${sampleRate}`);
  const samples = new Int16Array(Math.floor(data.length / (2 * channels)));
  for (const at of samples.keys()) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++) sum += data.readInt16LE(2 * (at * channels + channel));
    samples[at] = sum / channels;
  }
  if (samples.length === 0) throw new TypeError("expected a WAV file with samples");
  return { samples, sampleRate };
}

function chunksOf(file: Buffer): { readonly format?: Buffer; readonly data?: Buffer } {
  if (file.toString("latin1", 0, 4) !== "RIFF" || file.toString("latin1", 8, 12) !== "WAVE") return {};
  const chunks: { format?: Buffer; data?: Buffer } = {};
  for (let at = 12; at + CHUNK_HEADER_BYTES <= file.length;) {
    const id = file.toString("latin1", at, at + 4);
    const size = file.readUInt32LE(at + 4);
    const content = file.subarray(at + CHUNK_HEADER_BYTES, at + CHUNK_HEADER_BYTES + size);
    if (id === "fmt ") chunks.format = content;
    if (id === "data") chunks.data = content;
    // Chunks begin at even positions.
    at += CHUNK_HEADER_BYTES + size + (size % 2);
  }
  return chunks;
}
