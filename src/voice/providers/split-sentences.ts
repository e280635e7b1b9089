import { Speaker } from "../../session/answer/speaker.ts";

/** The sentences of a text, each as soon as it is known to be whole. */
export async function* splitSentences(
  text: AsyncIterable<string>,
  language: string | undefined,
): AsyncGenerator<string> {
  const sentences: string[] = [];
  const speaker = new Speaker(
    { onSentence: (sentence) => sentences.push(sentence.text), onText: () => {} },
    { language },
  );
  for await (const piece of text) {
    speaker.write(piece);
    yield* sentences.splice(0);
  }
  speaker.end();
  for (const sentence of sentences) if (sentence !== "") yield sentence;
}
