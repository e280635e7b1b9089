import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { resampleMono } from "../../src/livekit/audio-frame.ts";
import { runCommand } from "../../test/support/processes/run-in-our-environment.ts";

const RATE = 16_000;
const CACHE = join(import.meta.dirname, "../../.cache/recordings");
/** Recordings of people that Debian ships. */
const PACKAGES = ["pocketsphinx-testdata", "alsa-utils"];
const ALSA = "usr/share/sounds/alsa";
const SPHINX = "usr/share/pocketsphinx/test/data";
const NOVEL = `${SPHINX}/librivox/sense_and_sensibility_01_austen_64kb`;

/** What is said in each file. Corrected by hand, because some of the packages' own transcripts are wrong. */
const WORDS: Readonly<Record<string, string>> = {
  [`${ALSA}/Front_Center.wav`]: "front center",
  [`${ALSA}/Front_Left.wav`]: "front left",
  [`${ALSA}/Front_Right.wav`]: "front right",
  [`${ALSA}/Rear_Center.wav`]: "rear center",
  [`${ALSA}/Rear_Left.wav`]: "rear left",
  [`${ALSA}/Rear_Right.wav`]: "rear right",
  [`${ALSA}/Side_Left.wav`]: "side left",
  [`${ALSA}/Side_Right.wav`]: "side right",
  [`${SPHINX}/cards/001.wav`]: "ten of clubs",
  [`${SPHINX}/cards/002.wav`]: "four queen of clubs",
  [`${SPHINX}/cards/003.wav`]: "seven of clubs",
  [`${SPHINX}/cards/004.wav`]: "five five",
  [`${SPHINX}/cards/005.wav`]: "eight of spades four of clubs seven of hearts",
  [`${NOVEL}-0870.wav`]:
    "and mister john dashwood had then leisure to consider how much there might be prudently in his power to do for them",
  [`${NOVEL}-0880.wav`]: "he was not an ill disposed young man",
  [`${NOVEL}-0890.wav`]: "unless to be rather cold hearted and rather selfish is to be ill disposed",
  [`${NOVEL}-0920.wav`]:
    "had he married a more amiable woman he might have been made still more respectable than he was",
  [`${NOVEL}-0930.wav`]: "he might even have been made amiable himself",
  [`${SPHINX}/goforward.raw`]: "go forward ten meters",
  [`${SPHINX}/something.raw`]: "go somewhere and do something",
  [`${SPHINX}/tidigits/dhd.2934z.raw`]: "two nine three four zero",
};

export interface Recording {
  readonly name: string;
  /** One channel at 16,000 samples per second. */
  readonly samples: Int16Array;
  readonly words: string;
}

/** Downloads the recordings with apt, unless they are in the cache. */
export async function fetchRecordings(): Promise<Recording[]> {
  const missing = await readFile(join(CACHE, `${SPHINX}/goforward.raw`)).then(
    () => false,
    () => true,
  );
  if (missing) await download();
  return Promise.all(
    Object.entries(WORDS).map(async ([name, words]) => ({ name, words, samples: await read(join(CACHE, name)) })),
  );
}

async function download(): Promise<void> {
  await rm(CACHE, { recursive: true, force: true });
  await mkdir(CACHE, { recursive: true });
  await runCommand(
    "sh",
    ["-ec", `apt-get download ${PACKAGES.join(" ")}; for each in *.deb; do dpkg -x "$each" .; done`],
    {
      cwd: CACHE,
    },
  );
}

/**
 * Reads 16-bit samples and converts them to 16,000 per second. A `.raw` file already has this rate, and has no header.
 */
async function read(path: string): Promise<Int16Array> {
  const file = await readFile(path);
  if (path.endsWith(".raw")) return samplesOf(file);
  const rate = file.readUInt32LE(24);
  const samples = samplesOf(file.subarray(file.indexOf("data") + 8));
  return resampleMono(samples, rate, RATE);
}

function samplesOf(bytes: Buffer): Int16Array {
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 2));
  return new Int16Array(whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.length));
}

/** Adds white noise, `db` decibels below the sound. The noise is the same in each call. */
export function withNoise(samples: Int16Array, db: number): Int16Array {
  const power = samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length;
  // Uniform noise of this amplitude has the wanted power.
  const amplitude = Math.sqrt((3 * power) / 10 ** (db / 10));
  let state = 1;
  return samples.map((sample) => {
    state = (state * 48_271) % 2_147_483_647;
    const noise = amplitude * (2 * (state / 2_147_483_647) - 1);
    return Math.max(-32_768, Math.min(32_767, Math.round(sample + noise)));
  });
}
