import { Participant } from "./participant.ts";

/** An ordinary LiveKit client: it reads and writes text streams, and does not use Parley's protocol. */
export class PlainClient implements AsyncDisposable {
  readonly participant: Participant;
  /** The agent's answers, in the order in which they ended. */
  readonly heard: string[] = [];

  private constructor(participant: Participant) {
    this.participant = participant;
    participant.onText("lk.transcription", (text) => this.heard.push(text));
  }

  static async join(...[room, identity, options]: Parameters<typeof Participant.join>): Promise<PlainClient> {
    return new PlainClient(await Participant.join(room, identity, options));
  }

  async write(text: string): Promise<void> {
    await this.participant.room.localParticipant?.sendText(text, { topic: "lk.chat" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.participant.leave();
  }
}
