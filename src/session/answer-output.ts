import { createId } from "../lib/id.ts";
import { type Outbox } from "./outbox.ts";
import { type RoomLink } from "./room-link.ts";
import { countSentences, Speaker } from "./speaker.ts";
import { type SpokenAnswer } from "./voice-port.ts";

interface AnswerOutputOptions {
  readonly outbox: Outbox;
  readonly link: Pick<RoomLink, "openTranscription">;
  /** The StartAnswer's id. */
  readonly messageId: string;
  readonly language: string | undefined;
  /** What an earlier worker has said of the answer: its sentences keep their numbers. */
  readonly said: { readonly texts: readonly string[]; readonly asides: number };
  /** Absent in a session without a voice. */
  readonly spoken?: SpokenAnswer | undefined;
  /** An aside was given a sentence's number. */
  readonly onAside: () => void;
}

/** One answer's way to the participants: AssistantSentences, and `lk.transcription` for ordinary LiveKit clients. */
export class AnswerOutput {
  readonly #speaker: Speaker;
  readonly #transcription: Transcription;
  readonly #spoken: SpokenAnswer | undefined;
  readonly #onAside: () => void;
  #isEnded = false;

  constructor({ outbox, link, messageId, language, said, spoken, onAside }: AnswerOutputOptions) {
    this.#spoken = spoken;
    this.#onAside = onAside;
    this.#transcription = new Transcription(() => link.openTranscription(messageId));
    this.#speaker = new Speaker(
      {
        onSentence: (sentence) => {
          outbox.post({ type: "assistant_sentence", body: { id: createId(), previousId: messageId, ...sentence } });
        },
        onText: (text) => this.#transcription.write(text),
      },
      { language, after: countSentences(said.texts, language) + said.asides },
    );
  }

  write(text: string): void {
    this.#speaker.write(text);
  }

  /** A sentence ends here whatever its last character is. */
  flush(): void {
    this.#speaker.flush();
  }

  /**
   * Says what is not part of the answer: neither its record nor the model knows of it. Spoken where there is a voice,
   * else shown as a sentence of its own. Resolves when it has been said, or `signal` has cut it off; never rejects.
   */
  async aside(text: string, signal: AbortSignal): Promise<void> {
    if (this.#isEnded || signal.aborted) return;
    if (!this.#spoken) {
      this.#onAside();
      return this.#speaker.aside(text);
    }
    const aside = this.#spoken.aside(text);
    const cut = () => aside.cut();
    signal.addEventListener("abort", cut, { once: true });
    await aside.spoken;
    signal.removeEventListener("abort", cut);
  }

  /** Sends the final sentence; call exactly once. */
  end(): void {
    this.#isEnded = true;
    this.#speaker.end();
    this.#transcription.close();
  }
}

type TextStream = Awaited<ReturnType<RoomLink["openTranscription"]>>;

/** Opens its stream with the first words. It is a courtesy to other clients: a failure ends it and nothing else. */
class Transcription {
  readonly #open: () => Promise<TextStream>;
  #stream: Promise<TextStream> | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(open: () => Promise<TextStream>) {
    this.#open = open;
  }

  write(text: string): void {
    this.#stream ??= this.#open();
    this.#then((stream) => stream.write(text));
  }

  close(): void {
    this.#then((stream) => stream.close());
  }

  #then(action: (stream: TextStream) => Promise<void>): void {
    const stream = this.#stream;
    if (!stream) return;
    this.#last = this.#last.then(async () => action(await stream)).catch(() => {});
  }
}
