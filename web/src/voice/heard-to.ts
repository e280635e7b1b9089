/** The sentence of a text that is being played. */
interface PlayedSentence {
  readonly sentenceAt?: number;
  /** Where the sentence ends. */
  readonly saidTo: number;
}

/**
 * Returns how many characters of a text have been heard, to the word: the worker reports a sentence when it begins.
 *
 * @param caption what the agent's current speech has said so far; if it is empty, the whole sentence counts as heard
 */
export function heardTo(text: string, { sentenceAt = 0, saidTo }: PlayedSentence, caption: string): number {
  if (caption === "") return saidTo;
  const places = [...text.slice(sentenceAt, saidTo).matchAll(/\S/gu)].map(({ index }) => sentenceAt + index);
  const sentence = places.map((place) => text[place]).join("");
  // A caption has single spaces where the text may have line breaks, so spaces are not compared.
  const said = caption.replaceAll(/\s/gu, "");
  let heard = sentence.length;
  while (heard > 0 && !said.endsWith(sentence.slice(0, heard))) heard -= 1;
  return heard === 0 ? sentenceAt : (places[heard - 1] ?? saidTo) + 1;
}
