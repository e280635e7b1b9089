import { primaryLanguage } from "../lib/language-tag.ts";

const MAX_WORDS = 4;

/**
 * Reads a short utterance as yes or no. Every word must be on one of the language's lists, and the utterance must
 * contain a yes or a no, but not both. Returns `undefined` for anything else, and for more than four words.
 */
export function readYesOrNo(utterance: string, language: string | undefined): "yes" | "no" | undefined {
  const words = toWords(utterance);
  if (words.length === 0 || words.length > MAX_WORDS) return undefined;
  const meanings = meaningsOf(words, spokenAnswersOf(language));
  if (!meanings) return undefined;
  const [isYes, isNo] = [meanings.includes("yes"), meanings.includes("no")];
  if (isYes === isNo) return undefined;
  return isYes ? "yes" : "no";
}

/**
 * Returns the words of an utterance's first 200 characters, in lower case, without accents, apostrophes and
 * punctuation.
 */
export function toWords(utterance: string): string[] {
  const plain = utterance
    .slice(0, 200)
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[\p{M}'’]/gu, "");
  return plain.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

/** Returns the kind of each phrase, matching the longest phrase first, or `undefined` if a word is not on any list. */
function meaningsOf(words: readonly string[], answers: SpokenAnswers): (keyof SpokenAnswers)[] | undefined {
  if (words.length === 0) return [];
  for (let count = words.length; count > 0; count--) {
    const phrase = words.slice(0, count).join(" ");
    const meaning = (["no", "yes", "fillers"] as const).find((kind) => answers[kind].includes(phrase));
    if (!meaning) continue;
    const rest = meaningsOf(words.slice(count), answers);
    return rest && [meaning, ...rest];
  }
  return undefined;
}

/** A language's words for yes and no, in lower case, without accents and apostrophes. */
interface SpokenAnswers {
  /** Spoken after the description of what needs permission. */
  readonly question: string;
  readonly yes: readonly string[];
  readonly no: readonly string[];
  /** Words that may accompany a yes or a no but mean neither. */
  readonly fillers: readonly string[];
}

/** Keyed by the primary subtag of a BCP 47 tag. */
export const SPOKEN_ANSWERS = {
  en: {
    question: "Yes or no?",
    yes: ["yes", "yeah", "yep", "yup", "sure", "ok", "okay", "go ahead", "do it", "of course", "allow it", "approve"],
    no: ["no", "nope", "nah", "never", "dont", "do not", "dont do it", "do not do it", "reject", "not now"],
    fillers: ["please", "thanks", "thank you", "that is fine", "thats fine"],
  },
  de: {
    question: "Ja oder nein?",
    yes: ["ja", "jawohl", "jo", "klar", "ok", "okay", "gerne", "sicher", "mach das", "naturlich", "in ordnung"],
    no: ["nein", "ne", "nee", "nicht", "niemals", "auf keinen fall", "lieber nicht", "mach das nicht"],
    fillers: ["bitte", "danke", "doch"],
  },
  es: {
    question: "¿Sí o no?",
    yes: ["si", "claro", "vale", "ok", "okay", "de acuerdo", "por supuesto", "adelante", "hazlo"],
    no: ["no", "nunca", "para nada", "no lo hagas", "mejor no"],
    fillers: ["por favor", "gracias"],
  },
  fr: {
    question: "Oui ou non ?",
    yes: ["oui", "ouais", "daccord", "ok", "okay", "bien sur", "vas y", "allez y", "volontiers"],
    no: ["non", "jamais", "pas question", "surtout pas", "ne fais pas ca"],
    fillers: ["sil te plait", "sil vous plait", "merci"],
  },
  it: {
    question: "Sì o no?",
    yes: ["si", "certo", "va bene", "ok", "okay", "daccordo", "fallo", "procedi", "volentieri"],
    no: ["no", "mai", "non farlo", "meglio di no", "assolutamente no"],
    fillers: ["per favore", "grazie"],
  },
  nl: {
    question: "Ja of nee?",
    yes: ["ja", "jawel", "jazeker", "zeker", "graag", "ok", "oke", "okay", "prima", "doe maar", "natuurlijk"],
    no: ["nee", "neen", "nooit", "niet", "liever niet", "doe maar niet", "niet doen"],
    fillers: ["alsjeblieft", "alstublieft", "dank je", "dank u", "bedankt", "hoor"],
  },
  pt: {
    question: "Sim ou não?",
    yes: ["sim", "claro", "ok", "okay", "pode", "pode ser", "esta bem", "com certeza", "va em frente"],
    no: ["nao", "nunca", "de jeito nenhum", "nao faca isso", "melhor nao"],
    fillers: ["por favor", "obrigado", "obrigada"],
  },
} as const satisfies Record<string, SpokenAnswers>;

/** @param language a BCP 47 tag; for a language without a list, English is used */
export function spokenAnswersOf(language: string | undefined): SpokenAnswers {
  const primary = primaryLanguage(language);
  return Object.entries<SpokenAnswers>(SPOKEN_ANSWERS).find(([name]) => name === primary)?.[1] ?? SPOKEN_ANSWERS.en;
}
