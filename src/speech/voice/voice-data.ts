import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Entry } from "./g2p/dictionary.ts";
import type { TaggerTables } from "./g2p/tagger.ts";
import type { UnknownWordTables } from "./g2p/unknown-words.ts";
import type { WordTables } from "./text/normalize.ts";

/** The files of the wheel `hibari-tts` that the American voice needs. */
export const VOICE_FILES = [
  "hibari.onnx",
  "lexicon_us_gold.json.gz",
  "lexicon_us_silver.json.gz",
  "normalize.json",
  "oov.json",
  "oov.onnx",
  "tagger.json.gz",
  "tokenizer_exceptions.json",
  "vocab.json",
] as const;

type Lexicon = Readonly<Record<string, Entry>>;

/** The contents of `VOICE_FILES`. */
export interface VoiceData {
  readonly voice: Uint8Array;
  readonly unknownWords: Uint8Array;
  readonly unknownWordTables: UnknownWordTables;
  readonly gold: Lexicon;
  readonly silver: Lexicon;
  readonly words: WordTables;
  readonly tagger: TaggerTables;
  readonly specialWords: Readonly<Record<string, readonly string[]>>;
  readonly phonemeIds: Readonly<Record<string, number>>;
}

export async function readVoiceData(folder: string): Promise<VoiceData> {
  const bytes = async (name: (typeof VOICE_FILES)[number]): Promise<Buffer> => await readFile(join(folder, name));
  const json = async <T>(name: (typeof VOICE_FILES)[number]): Promise<T> => {
    const content = await bytes(name);
    const text = name.endsWith(".gz") ? await promisify(gunzip)(content) : content;
    return JSON.parse(text.toString()) as T;
  };
  return {
    voice: await bytes("hibari.onnx"),
    unknownWords: await bytes("oov.onnx"),
    unknownWordTables: await json("oov.json"),
    gold: await json("lexicon_us_gold.json.gz"),
    silver: await json("lexicon_us_silver.json.gz"),
    words: await json("normalize.json"),
    tagger: await json("tagger.json.gz"),
    specialWords: await json("tokenizer_exceptions.json"),
    phonemeIds: await json("vocab.json"),
  };
}
