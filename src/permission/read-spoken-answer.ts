import { spokenAnswersOf, type SpokenAnswers } from "./spoken-answers.ts";

const MAX_WORDS = 4;

/**
 * What a short utterance says to a question, if it is clearly a yes or a no: every word of it must be on the
 * language's list, and not both. Anything else is no answer.
 */
export function readSpokenAnswer(utterance: string, language: string | undefined): "yes" | "no" | undefined {
  const words = toWords(utterance);
  if (words.length === 0 || words.length > MAX_WORDS) return undefined;
  const meanings = meaningsOf(words, spokenAnswersOf(language));
  if (!meanings) return undefined;
  const [isYes, isNo] = [meanings.includes("yes"), meanings.includes("no")];
  if (isYes === isNo) return undefined;
  return isYes ? "yes" : "no";
}

function toWords(utterance: string): string[] {
  const plain = utterance
    .slice(0, 200)
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[\p{M}'’]/gu, "");
  return plain.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

/** The longest phrases first; `undefined` as soon as something is on no list. */
function meaningsOf(words: readonly string[], answers: SpokenAnswers): (keyof SpokenAnswers)[] | undefined {
  if (words.length === 0) return [];
  for (let count = words.length; count > 0; count--) {
    const phrase = words.slice(0, count).join(" ");
    const meaning = (["no", "yes", "beside"] as const).find((kind) => answers[kind].includes(phrase));
    if (!meaning) continue;
    const rest = meaningsOf(words.slice(count), answers);
    return rest && [meaning, ...rest];
  }
  return undefined;
}
