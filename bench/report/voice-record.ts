import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeytermFigures } from "../speech/keyterms.ts";
import { fillPlaces, record } from "./marked-places.ts";
import { toTable } from "./tables.ts";

const ROOT = join(import.meta.dirname, "../..");
const RECORDED = join(ROOT, "bench/results/voice.json");
const PAGE = join(ROOT, "docs/voice.md");

/** Minimum, median and maximum, in ms. */
export type Spread = readonly [number, number, number];

/** Medians in ms, by agent. */
type Medians = Readonly<Record<"Parley" | "Parley, speculate: false" | "agents-js", number>>;

/** The worst figures of one voice. */
export interface CaptionFigures {
  /** How many ms a sentence's first sound and its caption are apart, whichever comes first. */
  readonly lateMs: number;
  /** By how many words the text stored as heard is too long or too short. */
  readonly words: number;
}

/**
 * Figures about recognizing and synthesizing speech. `wrong` is the share of all words that are wrong. Times are in ms.
 */
interface SpeechFigures {
  /** A date such as 2026-11-25. */
  readonly at: string;
  /** The number of recordings of people. */
  readonly recordings: number;
  readonly recognized: {
    readonly quiet: { readonly wrong: number; readonly ms: Spread; readonly realTimeFactor: number };
    /** Recognized with noise 10 dB below the voice. */
    readonly noisy: { readonly wrong: number; readonly ms: Spread; readonly realTimeFactor: number };
    /** Times are measured from the last sound. */
    readonly room: { readonly wrong: number; readonly knownMs: Spread; readonly heardMs: Spread };
  };
  /** How well the embedded recognizer understands each voice. */
  readonly voices: Readonly<
    Record<"embedded" | "espeak", { readonly wrong: number; readonly firstMs: Spread; readonly realTimeFactor: number }>
  >;
}

interface RecognizerFigures {
  readonly wrong: number;
  /** With noise 10 dB below the voice. */
  readonly noisyWrong: number;
  /** How long one recording takes. */
  readonly meanMs: number;
}

/** The measurements in docs/voice.md. Each bench that runs with `RECORD=1` replaces its own part. */
export interface VoiceRecord {
  /** The time from the end of the participant's speech to each moment of the answer. */
  readonly answer: Readonly<Record<string, Spread>>;
  /** The time from the first sound of an interruption to each moment that follows. */
  readonly interruption: Readonly<Record<string, Spread>>;
  /** The comparison with a stock agent. `at` is a date such as 2026-11-25. */
  readonly beside: { readonly at: string; readonly medians: Readonly<Record<string, Medians>> };
  readonly captions: {
    readonly at: string;
    readonly voices: Readonly<Record<string, CaptionFigures>>;
    /** The same figures from when LiveKit paced the words of these voices. They were measured only once. */
    readonly paced: Readonly<Record<string, CaptionFigures>>;
  };
  /** Missing until the speech bench has been recorded for the first time. */
  readonly speech?: SpeechFigures;
  /** The recognizers that run without a network, on the same recordings. */
  readonly recognizers?: { readonly at: string; readonly figures: Readonly<Record<string, RecognizerFigures>> };
  /** How many names are recognized without and with `voice.keyterms`. */
  readonly keyterms?: KeytermFigures & { readonly at: string };
  readonly coughs: { readonly at: string; readonly count: number; readonly lost: number };
  readonly interruptions: { readonly at: string; readonly count: number; readonly stopped: number };
}

export async function readVoiceRecord(): Promise<VoiceRecord> {
  return JSON.parse(await readFile(RECORDED, "utf8")) as VoiceRecord;
}

/** Records a bench's measurements and writes them into docs/voice.md. Does nothing without `RECORD=1`. */
export async function recordVoice(
  change: Partial<VoiceRecord> | ((known: VoiceRecord) => Partial<VoiceRecord>),
): Promise<void> {
  await record<VoiceRecord>({ results: RECORDED, page: PAGE, write: writeVoice }, (known) =>
    typeof change === "function" ? change(known) : change,
  );
}

/** @throws {TypeError} if the page does not contain each place exactly once */
export function writeVoice(page: string, recorded: VoiceRecord): string {
  const { coughs, interruptions } = recorded;
  const texts: Readonly<Record<string, string>> = {
    answer: `\n\n${spreads(recorded.answer)}\n\n`,
    interruption: `\n\n${spreads(recorded.interruption)}\n\n`,
    coughs:
      `${coughs.lost} of ${coughs.count} coughs and other short sounds in which nothing is understood cost the answer a ` +
      `word (${coughs.at}); ${interruptions.stopped} of ${interruptions.count} interruptions stopped it (${interruptions.at})`,
    "captions-at": recorded.captions.at,
    ...(recorded.speech && { speech: `\n\n${speechTables(recorded.speech)}\n\n` }),
    ...(recorded.recognizers && { recognizers: `\n\n${recognizerTable(recorded.recognizers)}\n\n` }),
    ...(recorded.keyterms && { keyterms: keytermSentence(recorded.keyterms) }),
    captions: `\n\n${captionTable(recorded.captions)}\n\n`,
    "beside-at": recorded.beside.at,
    beside: `\n\n${besideStock(recorded.beside.medians)}\n\n`,
  };
  return fillPlaces(page, texts);
}

function spreads(rows: Readonly<Record<string, Spread>>): string {
  return toTable(
    ["", "least", "middle", "most"],
    Object.entries(rows).map(([title, values]) => [title, ...values.map(inMs)]),
  );
}

function captionTable({ voices, paced }: VoiceRecord["captions"]): string {
  const rows = Object.entries(voices).map(([name, { lateMs, words }]) => {
    const before = paced[name];
    return [name, inMs(lateMs), String(words), inMs(before?.lateMs ?? 0), String(before?.words ?? 0)];
  });
  return toTable(["", "ms", "words", "ms, paced by LiveKit", "words, paced by LiveKit"], rows);
}

function speechTables({ at, recordings, recognized, voices }: SpeechFigures): string {
  const { quiet, noisy, room } = recognized;
  const taken = ([, median, most]: Spread) => `${inMs(median)}; ${inMs(most)}`;
  const listened = toTable(
    ["", "wrong words", "ms, median; most"],
    [
      ["each recording as a whole, until its words are known", share(quiet.wrong), taken(quiet.ms)],
      ["the same, with noise 10 dB below the voice", share(noisy.wrong), taken(noisy.ms)],
      ["through a room, from the last sound until the words are known", share(room.wrong), taken(room.knownMs)],
      ["through a room, from the last sound until the answer is heard", "", taken(room.heardMs)],
    ],
  );
  const spoken = toTable(
    ["", "wrong words", "ms until the first sound, median; most", "real-time factor"],
    Object.entries(voices).map(([name, { wrong, firstMs, realTimeFactor }]) => [
      `\`TTS=${name}\``,
      share(wrong),
      taken(firstMs),
      realTimeFactor.toFixed(3),
    ]),
  );
  return `${recordings} recordings of people, on ${at}:\n\n${listened}\n\nThe voices, as this recognizer understands them:\n\n${spoken}`;
}

function recognizerTable({ at, figures }: NonNullable<VoiceRecord["recognizers"]>): string {
  const rows = Object.entries(figures).map(([name, { wrong, noisyWrong, meanMs }]) => [
    name,
    share(wrong),
    share(noisyWrong),
    inMs(meanMs),
  ]);
  const table = toTable(["", "wrong words", "with noise 10 dB below the voice", "ms for a recording, mean"], rows);
  return `On ${at}:\n\n${table}`;
}

function keytermSentence({ at, names, sentences, right, others }: NonNullable<VoiceRecord["keyterms"]>): string {
  return (
    `Of ${sentences} sentences, spoken by \`TTS=embedded\`, with one of ${names} names each, the name was right in ` +
    `${right.without} without \`keyterms\` and in ${right.with} with all ${names} of them. Of ${others.sentences} ` +
    `other sentences, \`keyterms\` changed ${others.changed} (${at})`
  );
}

function share(value: number): string {
  return `${(100 * value).toFixed(1)} %`;
}

function besideStock(medians: Readonly<Record<string, Medians>>): string {
  const rows = Object.entries(medians).map(
    ([title, { Parley, "Parley, speculate: false": plain, "agents-js": stock }]) => {
      const besides = [Parley, plain].map((ms) => `${inMs(ms)} (${(ms / stock).toFixed(2)})`);
      return [title, ...besides, inMs(stock)];
    },
  );
  return toTable(["", "Parley", "with `speculate: false`", "agents-js"], rows);
}

function inMs(ms: number): string {
  return ms.toLocaleString("en-US");
}
