import { createId } from "../lib/id.ts";
import { type Outbox } from "./outbox.ts";
import { type RoomLink } from "./room-link.ts";
import { countSentences, Speaker } from "./speaker.ts";

interface AnswerOutputOptions {
  readonly outbox: Outbox;
  readonly link: Pick<RoomLink, "openTranscription">;
  /** The StartAnswer's id. */
  readonly messageId: string;
  readonly language: string | undefined;
  /** Texts of the answer that an earlier worker has said: their sentences keep their numbers. */
  readonly said: readonly string[];
}

/** One answer's way to the participants: AssistantSentences, and `lk.transcription` for ordinary LiveKit clients. */
export class AnswerOutput {
  readonly #speaker: Speaker;
  readonly #transcription: Transcription;

  constructor({ outbox, link, messageId, language, said }: AnswerOutputOptions) {
    this.#transcription = new Transcription(() => link.openTranscription(messageId));
    this.#speaker = new Speaker(
      {
        onSentence: (sentence) => {
          outbox.post({ type: "assistant_sentence", body: { id: createId(), previousId: messageId, ...sentence } });
        },
        onText: (text) => this.#transcription.write(text),
      },
      { language, after: countSentences(said, language) },
    );
  }

  write(text: string): void {
    this.#speaker.write(text);
  }

  /** A sentence ends here whatever its last character is. */
  flush(): void {
    this.#speaker.flush();
  }

  /** Sends the final sentence; call exactly once. */
  end(): void {
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
