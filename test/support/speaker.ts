import { EspeakSynthesizer, findEspeak } from "../../src/voice/providers/espeak/espeak-synthesizer.ts";
import { loudBlocks, Speaker as RoomSpeaker, soundMs, synthesize } from "../../src/testing/stage/speaker.ts";
import type { Participant } from "./participant.ts";

const espeak = await findEspeak(process.env);
const spoken = new Map<string, Promise<Int16Array>>();

/** The sound of a text as espeak-ng speaks it, cached for each text. */
export function speechOf(text: string): Promise<Int16Array> {
  const known = spoken.get(text) ?? speak(text);
  spoken.set(text, known);
  return known;
}

async function speak(text: string): Promise<Int16Array> {
  if (!espeak) throw new Error("No espeak-ng");
  const synthesizer = new EspeakSynthesizer(espeak, "en");
  const samples = await synthesize(synthesizer, text);
  await synthesizer.close();
  return samples;
}

/**
 * How many seconds of sound a spoken text has, without the silence between words. `secondsHeard` returns the same if
 * all of the text was heard.
 */
export async function secondsOf(text: string): Promise<number> {
  return soundMs(await speechOf(text)) / 1_000;
}

/** A participant with a microphone and a loudspeaker, and with measurements of the sound it hears. */
export class Speaker extends RoomSpeaker {
  readonly client: Participant;

  /** @param client must be in the room */
  constructor(client: Participant) {
    super(client.room);
    this.client = client;
  }

  /**
   * Speaks a text. Resolves when its last sound has been sent. @returns `performance.now()` at the start and the end
   */
  async say(text: string): Promise<{ readonly from: number; readonly to: number }> {
    return this.play(await speechOf(text));
  }

  /** Like `say`. @returns when the first and the last audible sound were sent */
  async sayAloud(text: string): Promise<{ readonly from: number; readonly to: number }> {
    return this.playAloud(await speechOf(text));
  }

  /** Like `play`. @returns when the first and the last audible sound were sent */
  async playAloud(speech: Int16Array): Promise<{ readonly from: number; readonly to: number }> {
    const loud = loudBlocks(speech);
    const { from, to } = await this.play(speech);
    return { from: from + loud.indexOf(true) * 10, to: to - (loud.length - 1 - loud.lastIndexOf(true)) * 10 };
  }

  /** Resolves when this many seconds of sound have arrived from the agent after `since`. */
  async untilHeard(seconds: number, since = 0, timeoutMs = 15_000): Promise<void> {
    await this.until(() => this.secondsHeard(since) >= seconds, timeoutMs, `${seconds} s of sound`);
  }

  /** The seconds of sound from the agent in this period. */
  secondsHeard(from = 0, to = Number.POSITIVE_INFINITY): number {
    return this.heardAt.filter((at) => at >= from && at <= to).length / 100;
  }

  /** When the agent's last sound before this moment was heard. */
  lastSoundBefore(moment: number): number {
    return this.heardAt.findLast((at) => at < moment) ?? 0;
  }
}
