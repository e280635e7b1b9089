import { Dictionary } from "./g2p/dictionary.ts";
import { Lexicon } from "./g2p/lexicon.ts";
import { NumberReader } from "./g2p/number-reader.ts";
import { type Phonemes, Phonemizer } from "./g2p/phonemizer.ts";
import { Tagger } from "./g2p/tagger.ts";
import { Tokenizer } from "./g2p/tokenizer.ts";
import { UnknownWords } from "./g2p/unknown-words.ts";
import { WordReader } from "./g2p/word-reader.ts";
import type { Model } from "./network/model.ts";
import { createNormalizer } from "./text/normalize.ts";
import { splitSentences } from "./text/sentences.ts";
import { TracedText } from "./text/traced-text.ts";
import type { VoiceData } from "./voice-data.ts";

/** The maximum number of phoneme characters that the network speaks at once. */
const LONGEST = 400;
const CLAUSE = /(?<=[,;:—])\s+/g;

/** Returns a function that converts text to phonemes, one sentence at a time. Long sentences are split into parts. */
export function createPronunciation(
  data: Omit<VoiceData, "voice" | "unknownWords">,
  unknownWords: Model,
): (text: string) => AsyncGenerator<Phonemes> {
  const titles = new Set(Object.keys(data.words.titles));
  const normalize = createNormalizer(data.words);
  const lexicon = new Lexicon(new Dictionary(data.gold), new Dictionary(data.silver));
  const words = new WordReader(
    lexicon,
    new NumberReader(lexicon),
    new UnknownWords(unknownWords, data.unknownWordTables),
  );
  const phonemizer = new Phonemizer(new Tokenizer(data.specialWords), new Tagger(data.tagger), words);
  return async function* pronounce(text) {
    for (const sentence of splitSentences(text, titles)) {
      const traced = new TracedText(sentence.text, sentence.start);
      normalize(traced);
      const phonemes = await phonemizer.read(traced);
      if (phonemes.text) yield* inParts(phonemes);
    }
  };
}

/** If a sentence is too long, splits it after commas, semicolons, colons and dashes. */
function* inParts({ text, origins }: Phonemes): Generator<Phonemes> {
  if (text.length <= LONGEST) return yield { text, origins };
  const cuts = Array.from(text.matchAll(CLAUSE), ({ 0: gap, index }) => ({ end: index, next: index + gap.length }));
  const part = (start: number, end: number): Phonemes => ({
    text: text.slice(start, end),
    origins: origins.slice(start, end),
  });
  let start = 0;
  let end = 0;
  for (const [at, cut] of [...cuts, { end: text.length, next: text.length }].entries()) {
    const next = cuts[at - 1]?.next ?? 0;
    if (end > start && cut.end - start > LONGEST) {
      yield part(start, end);
      start = next;
    }
    end = cut.end;
  }
  yield part(start, end);
}
