import { primaryLanguage } from "../../lib/language-tag.ts";

/** Sounds and words that mean "I am listening" in any language. Like the following, a pattern without punctuation. */
const EVERYWHERE = "m+h?m*|m+ h+m*|h+m+|u+h h?u+h|aha|a+h+|o+h+|oh?kay|ok|oke[iy]";
/** What people say in a language while they listen. */
const BY_LANGUAGE: Readonly<Record<string, string>> = {
  en:
    "yes|yeah|yea|yep|yup|sure|right|all ?right|i see|got it|go on|of course|great|good|nice|cool|fine|wow|really|" +
    "exactly|true|i know|uh|um",
  de:
    "ja|jap|jo|genau|klar|gut|sehr gut|alles klar|ach so|stimmt|verstehe|super|schön|echt|wirklich|richtig|toll|äh+|" +
    "ähm",
  fr: "oui|ouais|d['’ ]?accord|bien|très bien|je vois|voilà|exact|exactement|ah bon|super|vraiment|bien sûr|euh",
  es: "sí|si|vale|claro|bien|muy bien|ya|ya veo|exacto|de acuerdo|entiendo|bueno|genial|en serio|ajá|eh",
  it: "sì|si|va bene|bene|certo|capisco|ho capito|esatto|già|davvero|d['’ ]?accordo|giusto|eh",
  pt: "sim|tá|está bem|claro|certo|entendi|bom|muito bem|pois|pois é|exato|isso|é",
  nl: "ja|jawel|goed|prima|precies|klopt|snap ik|juist|leuk|echt|oké|eh",
  ja: "はい|ええ|うん|うんうん|なるほど|そう|そうですか|そうですね|へえ|わかりました",
  zh: "嗯+|对+|是|是的|好|好的|行|明白|知道了|哦",
};
/** The most of these words or phrases that count as listening. More is somebody who wants to speak. */
const MAX_IN_A_ROW = 3;
const MAX_LENGTH = 60;

/**
 * Recognizes backchannels: short sounds and words, such as "mhm" and "okay", that people make while they listen, and
 * that do not mean that they want to speak.
 */
export class Backchannels {
  readonly #added: Readonly<Record<string, readonly string[]>>;
  readonly #patterns = new Map<string, RegExp>();

  /** @param added an author's own words, by language */
  constructor(added: Readonly<Record<string, readonly string[]>>) {
    this.#added = added;
  }

  /** @param language BCP 47 */
  has(text: string, language?: string): boolean {
    const words = lettersOf(text);
    return words.length <= MAX_LENGTH && this.#patternOf(primaryLanguage(language)).test(words);
  }

  #patternOf(language: string): RegExp {
    const known = this.#patterns.get(language);
    if (known) return known;
    const added = (this.#added[language] ?? []).map(lettersOf).filter(Boolean);
    const either = [EVERYWHERE, BY_LANGUAGE[language], ...added].filter(Boolean).join("|");
    const pattern = new RegExp(
      `^(?:(?:${either})(?: |$|(?<=[\\p{Script=Han}\\p{Script=Hiragana}]))){1,${MAX_IN_A_ROW}}$`,
      "u",
    );
    this.#patterns.set(language, pattern);
    return pattern;
  }
}

/** Returns the text in lower case and without punctuation. The result contains no special characters of a pattern. */
function lettersOf(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}'’]+/gu, " ")
    .trim();
}
