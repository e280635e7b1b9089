import { glob, readFile } from "node:fs/promises";
import type { AudioFrame } from "@livekit/rtc-node";
import { Keyterms } from "../../src/speech/listen/keyterms.ts";
import type { EmbeddedRecognizer } from "../../src/voice/providers/embedded/embedded-recognizer.ts";
import { piecesOf, type Synthesizer } from "../../src/voice/providers/synthesizer.ts";

// cspell:disable
const NAMES = [
  ["Parley", "LiveKit", "Kubernetes", "Postgres", "Anthropic", "Moonshine", "Acme Rocket", "Sunny Hill"],
  ["Siobhan", "Nguyen", "Aoife", "Xavier", "Leilani", "Tomasz", "Ingrid", "Doctor Patel"],
  ["Wojcik", "Okonkwo", "Bergstrom", "Castellano", "Delacroix", "Yamamoto", "Blue Lagoon", "Terra Nova"],
  ["Zyrtec", "Ozempic", "Metoprolol", "Lisinopril", "Medicare Advantage", "Quick Pay", "Volkswagen", "Hyundai"],
  ["Gruyere", "Tiramisu", "Margherita", "Prosecco", "Gnocchi", "Ceviche", "Fjallraven", "Ikea"],
].flat();
// cspell:enable
const sentencesWith = (name: string) => [
  `I would like to order ${name} please.`,
  `Can you call ${name} tomorrow morning?`,
  `Tell me more about ${name}.`,
  `Is ${name} still available in the store?`,
];
/** A whole sentence of prose on one line. */
const PROSE = /^[A-Z][a-zA-Z ,']{30,200}[.?]$/u;

export interface KeytermFigures {
  readonly names: number;
  /** How many sentences were spoken, each with a name. */
  readonly sentences: number;
  /** In how many of them the name was right. */
  readonly right: { readonly without: number; readonly with: number };
  /** How many sentences without a name `keyterms` was given, and how many of them it changed. */
  readonly others: { readonly sentences: number; readonly changed: number };
}

/** Speaks sentences with names, and counts how many names are recognized without and with `keyterms`. */
export async function measureKeyterms(recognizer: EmbeddedRecognizer, voice: Synthesizer): Promise<KeytermFigures> {
  const keyterms = new Keyterms(NAMES);
  const right = { without: 0, with: 0 };
  const { signal } = new AbortController();
  for (const name of NAMES)
    for (const sentence of sentencesWith(name)) {
      const frames: AudioFrame[] = await Array.fromAsync(voice.speak(piecesOf(sentence), { language: "en", signal }));
      const { alternatives } = await recognizer.recognize(frames);
      const heard = alternatives?.[0].text ?? "";
      if (heard.toLowerCase().includes(name.toLowerCase())) right.without++;
      if (keyterms.correct(heard).includes(name)) right.with++;
    }
  const others = await sentencesOfOurPages();
  const changed = others.filter((sentence) => letters(keyterms.correct(sentence)) !== letters(sentence));
  console.log(changed.join("\n"));
  return {
    names: NAMES.length,
    sentences: NAMES.length * sentencesWith("").length,
    right,
    others: { sentences: others.length, changed: changed.length },
  };
}

async function sentencesOfOurPages(): Promise<string[]> {
  const pages = await Array.fromAsync(glob("docs/**/*.md"));
  const texts = await Promise.all(pages.toSorted().map((page) => readFile(page, "utf8")));
  return texts.flatMap((text) => text.split(/(?<=[.?!])\s+|\n/u)).filter((sentence) => PROSE.test(sentence));
}

const letters = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/gu, "");
