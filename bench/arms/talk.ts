import { setTimeout as sleep } from "node:timers/promises";
import { AccessToken } from "livekit-server-sdk";
// Imports only the type: `loadRtcNode` loads the module itself and redirects its log.
import type { Room } from "@livekit/rtc-node";
import { connect, type Parley, roomTransport } from "../../src/client/index.ts";
import { loadRtcNode } from "../../src/livekit/load-rtc-node.ts";
import { forgetRoom, filterRoomEvents } from "../../src/livekit/room-events.ts";
import { clockMs } from "../clock.ts";
import { timedTransport } from "./timed-transport.ts";

/** How a participant offers the tool `look_up`: through Parley's SDK, as an RPC method, or not at all. */
export type ToolWay = "parley" | "rpc" | "none";
/** `long` requests a long answer, `input` a long tool input. */
export type Question = "plain" | "tool" | "long" | "input";
const WORDS = {
  plain: { text: "What time is it?", mark: "q" },
  tool: { text: "Look up the time, please.", mark: "t" },
  long: { text: "Tell me all of it.", mark: "l" },
  input: { text: "Write all of it down, please.", mark: "i" },
} as const;

export interface LivekitServer {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
}

/** One question and its answer. Times are from `clockMs`. */
export interface Asked {
  readonly id: string;
  readonly askedAt: number;
  readonly firstWordAt: number;
  readonly wholeAt: number;
  /** When the tool was called on the participant's device, and when it returned. */
  readonly toolRanAt: number | undefined;
  readonly toolReturnedAt: number | undefined;
}

/**
 * How long a join may take, in ms. If many rooms are created at once, an agent that starts a process per room may need
 * a minute.
 */
const JOIN_MS = 120_000;
const ANSWER_MS = 60_000;
/** How many of the last received characters are searched for the end of an answer. */
const TAIL = 100;
let last = 0;

/** A participant that sends questions on `lk.chat` and reads `lk.transcription`, like any LiveKit client. */
export class Talk implements AsyncDisposable {
  /** How long it took from joining until the agent listened. */
  readonly joinMs: number;
  readonly #name: string;
  readonly #room: Room;
  readonly #parley: Parley | undefined;
  readonly #state: TalkState;

  private constructor(room: Room, { state, joinMs, parley }: { state: TalkState; joinMs: number; parley?: Parley }) {
    this.#name = room.name ?? "";
    this.#room = room;
    this.#state = state;
    this.joinMs = joinMs;
    this.#parley = parley;
  }

  static async join(livekit: LivekitServer, name: string, tool: ToolWay): Promise<Talk> {
    const { Room } = await loadRtcNode();
    const startedAt = clockMs();
    const room = new Room();
    filterRoomEvents(room);
    const state = new TalkState();
    room.registerTextStreamHandler("lk.transcription", (reader) => void state.hearAll(reader));
    await room.connect(livekit.url, await tokenFor(livekit, name), { autoSubscribe: false, dynacast: false });
    const parley = tool === "parley" ? await offerBySdk(room, state) : undefined;
    if (tool === "rpc")
      room.localParticipant?.registerRpcMethod("lookUp", async ({ payload }) => {
        const { id } = JSON.parse(payload) as { id: string };
        return JSON.stringify(state.lookUp(id));
      });
    const others = () => [...room.remoteParticipants.values()];
    while (!others().some(isListening)) {
      const seen = others().map(({ identity, attributes }) => `${identity} ${JSON.stringify(attributes)}`);
      if (clockMs() - startedAt > JOIN_MS)
        throw new Error(`Nobody listens in ${name} after ${JOIN_MS} ms; there: ${seen.join(", ") || "nobody"}`);
      await sleep(2);
    }
    await parley?.whenConnected(JOIN_MS);
    return new Talk(room, { state, joinMs: clockMs() - startedAt, ...(parley && { parley }) });
  }

  /**
   * @param deltas the length of the answer or the tool input, for `long` and `input`
   * @throws if the answer is not complete in time
   */
  async ask(question: Question, deltas?: number): Promise<Asked> {
    const id = (++last).toString(36).padStart(6, "0");
    const { text: words, mark } = WORDS[question];
    const text = `${words} [${mark}-${deltas === undefined ? "" : `${deltas}-`}${id}]`;
    const whole = this.#state.expect(id);
    const askedAt = clockMs();
    await this.#room.localParticipant?.sendText(text, { topic: "lk.chat" });
    const late = setTimeout(
      () => this.#state.fail(new Error(`${this.#name}: no answer to "${text}" within ${ANSWER_MS} ms`)),
      ANSWER_MS,
    );
    const times = await whole.finally(() => clearTimeout(late));
    return { id, askedAt, ...times };
  }

  /**
   * Returns how many ms each tool result waited for its Ack, for the results since the previous call of this method.
   * Measured only with Parley's SDK.
   */
  takeResultAcks(): number[] {
    return this.#state.resultAcks.splice(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parley?.close();
    await this.#room.disconnect().catch(() => {});
    forgetRoom(this.#room);
  }
}

type Times = Omit<Asked, "id" | "askedAt">;

/** Collects everything that the handlers of a room receive. */
class TalkState {
  readonly resultAcks: number[] = [];
  #id = "";
  #text = "";
  #times: { firstWordAt?: number; toolRanAt?: number; toolReturnedAt?: number } = {};
  #whole = Promise.withResolvers<Times>();

  async expect(id: string): Promise<Times> {
    [this.#id, this.#text, this.#times] = [id, "", {}];
    this.#whole = Promise.withResolvers<Times>();
    return this.#whole.promise;
  }

  fail(error: Error): void {
    this.#whole.reject(error);
  }

  async hearAll(texts: AsyncIterable<string>): Promise<void> {
    try {
      for await (const text of texts) this.#hear(text);
    } catch {
      // The participant left before the stream was closed. Waiting callers have a timeout.
    }
  }

  #hear(text: string): void {
    const at = clockMs();
    this.#text = (this.#text + text).slice(-TAIL);
    this.#times.firstWordAt ??= at;
    const { firstWordAt, toolRanAt, toolReturnedAt } = this.#times;
    if (this.#text.includes(`That was ${this.#id}.`))
      this.#whole.resolve({ firstWordAt, toolRanAt, toolReturnedAt, wholeAt: at });
  }

  lookUp(id: string): { readonly seen: string } {
    this.#times.toolRanAt = clockMs();
    const result = { seen: `seen:${id}` };
    this.#times.toolReturnedAt = clockMs();
    return result;
  }
}

async function offerBySdk(room: Room, state: TalkState): Promise<Parley> {
  const parley = await connect(
    timedTransport(roomTransport(room), (ms) => state.resultAcks.push(ms)),
    { waitForAgentMs: 0 },
  );
  parley.registerTool<{ id: string }>({
    name: "look_up",
    description: "Looks something up on the participant's device.",
    input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
    run: ({ id }) => state.lookUp(id),
  });
  return parley;
}

/** Whether an agent reports in its attribute that it is listening. */
function isListening({ attributes }: { readonly attributes: Readonly<Record<string, string>> }): boolean {
  return attributes["lk.agent.state"] === "listening";
}

export async function tokenFor({ apiKey, apiSecret }: LivekitServer, room: string, identity = "user"): Promise<string> {
  const token = new AccessToken(apiKey, apiSecret, { identity });
  token.addGrant({ room, roomJoin: true, canPublish: true, canSubscribe: true, canPublishData: true });
  return token.toJwt();
}
