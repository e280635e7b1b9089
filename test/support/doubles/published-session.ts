import { pino } from "pino";
import type { TurnBlock } from "../../../src/conversation/block.ts";
import type { TurnRecord } from "../../../src/conversation/turn-record.ts";
import { createId } from "../../../src/lib/id.ts";
import type { BlockDelta } from "../../../src/llm/model-event.ts";
import { createEventPublisher } from "../../../src/session/events/event-publisher.ts";
import { Recorder } from "../../../src/session/record/recorder.ts";
import type { SessionWatcher, TurnSpoken } from "../../../src/session/events/session-event.ts";
import { claimSession } from "../../../src/store/sessions/leases.ts";
import type { Sql } from "../../../src/store/database/pool.ts";
import type { TurnEvent } from "../../../src/turn/turn-event.ts";

const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** A session that is stored and published as in a job process, without a room and a model. */
export class PublishedSession {
  readonly id: string;
  readonly room: string;
  readonly #recorder: Recorder;
  readonly #publish: SessionWatcher;
  #position = 0;

  private constructor(sql: Sql, { id, room, publishWith }: { id: string; room: string; publishWith: Sql }) {
    this.id = id;
    this.room = room;
    const lease = { sessionId: id, epoch: 1 };
    this.#recorder = new Recorder(
      { writer: { sql, lease }, untilOwned: async () => {}, lose: () => {} },
      { onLost: () => {} },
    );
    this.#publish = createEventPublisher({ writer: { sql: publishWith, lease }, logger: pino({ level: "silent" }) });
  }

  static async begin(sql: Sql, publishWith = sql): Promise<PublishedSession> {
    const id = createId();
    const room = `room-${id}`;
    const claim = {
      sessionId: id,
      conversationId: room,
      room,
      participantIdentity: null,
      owner: "job",
      leaseMs: 60_000,
    };
    await claimSession(sql, claim);
    return new PublishedSession(sql, { id, room, publishWith });
  }

  begin({ isSpoken = false } = {}): PublishedTurn {
    const turn: TurnRecord = {
      id: createId(),
      position: ++this.#position,
      participantIdentity: "ann",
      parentMessageId: createId(),
      messageId: createId(),
      input: [{ type: "text", text: "Hi" }],
      state: "running",
      blocks: [],
    };
    this.#recorder.beginTurn(turn, { isSpoken });
    const followed = new PublishedTurn(turn, this.#recorder, this.#publish);
    followed.tell({ type: "turn_start", model: "claude-test" });
    return followed;
  }

  /** Adds a whole turn. Resolves once it is stored. */
  async say(...texts: string[]): Promise<TurnRecord> {
    const turn = this.begin();
    for (const text of texts) turn.text(text);
    await turn.end();
    return turn.turn;
  }
}

class PublishedTurn {
  readonly turn: TurnRecord;
  readonly #recorder: Recorder;
  readonly #publish: SessionWatcher;
  #sequence = 0;

  constructor(turn: TurnRecord, recorder: Recorder, publish: SessionWatcher) {
    this.turn = turn;
    this.#recorder = recorder;
    this.#publish = publish;
  }

  tell(event: TurnEvent | TurnSpoken): void {
    this.#publish({ type: "turn", turn: this.turn, event });
  }

  start(blockType = "text"): void {
    this.tell({ type: "block_start", sequence: this.#sequence, blockType });
  }

  grow(text: string, type: "text" | "thinking" = "text"): void {
    this.delta({ type, text });
  }

  delta(delta: BlockDelta | { readonly type: "tool_result"; readonly content: string }): void {
    this.tell({ type: "block_delta", sequence: this.#sequence, delta });
  }

  stop(block: Omit<TurnBlock, "sequence">): void {
    const placed = { sequence: this.#sequence++, ...block };
    this.#recorder.blocksOf(this.turn.id).add(placed);
    this.tell({ type: "block_stop", sequence: placed.sequence, block: placed });
  }

  text(text: string): void {
    this.start();
    this.grow(text);
    this.stop({ blockType: "text", textContent: text, content: null });
  }

  async end(): Promise<void> {
    this.tell({ type: "turn_complete", state: "completed", stopReason: "end_turn", usage, error: undefined });
    const turnId = this.turn.id;
    await this.#recorder.finishTurn({
      turnId,
      state: "completed",
      stopReason: "end_turn",
      usage,
      model: "claude-test",
    });
  }

  /**
   * Publishes and stores the end of the answer's speech, which comes after the end of the turn.
   *
   * @param heard what was heard of the answer, if it was interrupted
   */
  async speak(heard?: string): Promise<void> {
    const state = heard === undefined ? "completed" : "interrupted";
    this.tell({ type: "turn_spoken", state, heard });
    await this.#recorder.finishSpeech({ turnId: this.turn.id, state, heard, lastStanza: 1 });
  }
}
