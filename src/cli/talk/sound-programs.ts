import { findOnPath } from "../../worker/services/find-on-path.ts";
import { TalkError } from "./talk-error.ts";

/** The sample rate in both directions. Samples are mono, 16 bits, little-endian. */
export const SOUND_RATE = 48_000;

type Command = readonly [name: string, ...args: string[]];

/** A program that writes the microphone's samples to stdout, and one that plays those from stdin. */
export interface SoundPrograms {
  readonly record: Command;
  readonly play: Command;
}

const PULSE = ["--raw", "--format=s16le", `--rate=${SOUND_RATE}`, "--channels=1", "--latency-msec=20"];
const ALSA = ["-q", "-t", "raw", "-f", "S16_LE", "-r", `${SOUND_RATE}`, "-c", "1"];
const SOX = ["-q", "-t", "raw", "-r", `${SOUND_RATE}`, "-b", "16", "-e", "signed", "-c", "1", "-"];

/** In order of preference: PulseAudio or PipeWire, ALSA, SoX (macOS). */
const KNOWN: readonly SoundPrograms[] = [
  { record: ["parec", ...PULSE], play: ["pacat", ...PULSE] },
  { record: ["arecord", ...ALSA], play: ["aplay", ...ALSA] },
  { record: ["rec", ...SOX], play: ["play", ...SOX] },
];

/** @throws {TalkError} if this machine has no programs that record and play */
export async function findSoundPrograms(): Promise<SoundPrograms> {
  for (const programs of KNOWN) {
    const found = await Promise.all([findOnPath(programs.record[0]), findOnPath(programs.play[0])]);
    if (found.every((path) => path !== undefined)) return programs;
  }
  const names = KNOWN.map(({ record, play }) => `${record[0]} and ${play[0]}`).join(", or ");
  throw new TalkError(
    `--mic: no program here records and plays sound. It needs ${names}: install pulseaudio-utils, alsa-utils or sox`,
  );
}
