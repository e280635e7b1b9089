import { setTimeout as sleep } from "node:timers/promises";
import { initializeLogger } from "@livekit/agents";
import fc from "fast-check";
import { pino } from "pino";
import { beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { agentSchema } from "../../../src/agent/agent-fields.ts";
import type { UserTurnDecision } from "../../../src/agent/turn-hooks.ts";
import type { HistoryMessage } from "../../../src/conversation/history.ts";
import { createId } from "../../../src/lib/id.ts";
import type { ModelEvent } from "../../../src/llm/model-event.ts";
import type { ServedAgent } from "../../../src/session/agent/served-agent.ts";
import { SessionAgents } from "../../../src/session/agent/session-agents.ts";
import type { OpenStream } from "../../../src/session/model/open-stream.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { VoiceActivity } from "../../../src/voice/listen/voice-activity.ts";
import { voiceSchema } from "../../../src/voice/voice-settings.ts";
import { createRandom } from "../../support/doubles/fake-room.ts";
import { decode, encode, fakeParticipant, FakeSession, lastUserText } from "../../support/doubles/fake-session.ts";
import { FakeActivityStream } from "../../support/doubles/fake-voice-activity.ts";
import { SpokenSession } from "../../support/doubles/spoken-session.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

const TALKS = propertyRuns(60);
const USER = fakeParticipant("user");
/** After this, everything that was said has been answered. */
const ANSWERED_WITHIN_MS = 40_000;

/** What a participant's first word asks for. The hook or the model finds it in the text. */
const WANTS = ["say", "say", "say", "order", "leave", "context", "answer", "legal", "refuse"] as const;

const turn = fc.record({
  wants: fc.constantFrom(...WANTS),
  /** The pause after each group of words. The last one ends the turn. */
  pausesMs: fc.array(fc.constantFrom(64, 130, 260, 500, 900), { minLength: 1, maxLength: 3 }),
  /** What happens once the answer has sounded for a while. */
  reaction: fc.constantFrom("nothing", "nothing", "continue", "continue", "mhm", "cough", "type", "cancel"),
  afterMs: fc.constantFrom(0, 100, 300, 550, 700, 1_500),
});
type Turn = typeof turn extends fc.Arbitrary<infer Each> ? Each : never;
const talk = fc.record({
  seed: fc.integer(),
  isManual: fc.constantFrom(false, false, false, true),
  turns: fc.array(turn, { minLength: 3, maxLength: 8 }),
});
type Talk = typeof talk extends fc.Arbitrary<infer Each> ? Each : never;

interface ModelCall {
  readonly number: number;
  /** The participant's words that the model was asked about. */
  readonly words: string;
  readonly history: string;
  readonly at: number;
}

/** A session with everything switched on that decides when somebody has finished, and what was said in it. */
class Talked {
  readonly calls: ModelCall[] = [];
  readonly ran: number[] = [];
  readonly asked: number[] = [];
  readonly sent: string[] = [];
  /** The participant's words, in order. Each is said once. */
  readonly said: string[] = [];
  readonly typed: string[] = [];
  /** Whether each "mhm" stopped the answer over which it was said. */
  readonly backchannels: boolean[] = [];
  readonly spoken: SpokenSession;
  readonly fake: FakeSession;
  readonly #random: () => number;
  readonly #isManual: boolean;
  #questions = 0;
  #isMidSentence = false;

  constructor({ seed, isManual }: Pick<Talk, "seed" | "isManual">, activities: FakeActivityStream[]) {
    this.#random = createRandom(seed);
    this.#isManual = isManual;
    const settings = voiceSchema.parse({ turns: isManual ? "manual" : "auto", thinking: "sound" });
    this.spoken = new SpokenSession({
      identity: USER.identity,
      settings,
      take: (input) => this.fake.session.handle(input),
      recognizeMs: () => 20 + Math.floor(this.#random() * 150),
      // The judgment is wrong at every fifth pause.
      seemsComplete: () => this.#isMidSentence !== this.#random() > 0.2,
      activities,
    });
    const order = this.#tool("order");
    const leave = this.#tool("leave");
    this.fake = new FakeSession({
      voice: this.spoken.voice,
      tools: { order, leave },
      policy: {
        speculates: settings.speculate,
        permission: {
          rules: [{ type: "order", pattern: "*", action: "allow" }],
          byVoice: false,
          waitMs: 120_000,
        },
      },
      think: () => ({}),
      publish: async (bytes) => this.#receive(bytes),
      world: { agents: this.#agents(), openStream: this.#openStream },
    });
  }

  async play(turns: readonly Turn[]): Promise<void> {
    this.fake.session.handle({ type: "joined", participant: USER });
    const body = { serverTools: [], clientTools: [], features: ["permissions"] };
    this.fake.session.handle({ type: "packet", from: USER, bytes: encode(1, { type: "configuration", body }) });
    this.spoken.start();
    await this.spoken.pause(300);
    for (const [index, each] of turns.entries()) await this.#playTurn(each, index);
    await this.spoken.pause(ANSWERED_WITHIN_MS);
    await this.fake.session.close(0);
    this.spoken.close();
  }

  async #playTurn({ wants, pausesMs, reaction, afterMs }: Turn, index: number): Promise<void> {
    const { spoken } = this;
    const first = `${wants}${index}`;
    const groups = pausesMs.map((_, group) => (group === 0 ? [first, `a${index}`] : [`b${index}${group}`]));
    const isCanceled = this.#isManual && reaction === "cancel";
    if (this.#isManual) await spoken.call("start_turn");
    for (const [group, words] of groups.entries()) {
      const isLast = group === groups.length - 1;
      this.#isMidSentence = !isLast;
      const written = isLast ? [...words.slice(0, -1), `${words.at(-1)}.`] : words;
      if (!isCanceled) this.said.push(...words);
      await spoken.say(written);
      await spoken.pause(pausesMs[group] ?? 0);
    }
    if (this.#isManual) await spoken.call(isCanceled ? "cancel_turn" : "end_turn");
    if (isCanceled) return spoken.pause(1_000);
    if (await spoken.untilSounded(afterMs, 4_000)) await this.#react(reaction, index);
    await spoken.pause(4_000 + this.#random() * 10_000);
  }

  async #react(reaction: Turn["reaction"], index: number): Promise<void> {
    const { spoken } = this;
    if (reaction === "type") {
      const text = `say typed${index}.`;
      this.typed.push(text);
      this.fake.session.handle({ type: "chat", from: USER, id: `typed-${index}`, text });
    }
    if (reaction === "cough" && !this.#isManual) await spoken.cough(200);
    if (reaction === "mhm" && !this.#isManual) {
      const isOverSpeech = spoken.agentSession.isSounding;
      const answering = [...this.fake.recorder.turns.values()].at(-1);
      await spoken.say(["Mhm."]);
      await spoken.pause(1_500);
      if (isOverSpeech) this.backchannels.push(answering?.heard !== undefined);
    }
    if (reaction !== "continue") return;
    if (this.#isManual) await spoken.call("start_turn");
    const words = [`c${index}`, `d${index}`];
    this.said.push(...words);
    await spoken.say([words[0] ?? "", `${words[1]}.`]);
    if (this.#isManual) await spoken.call("end_turn");
  }

  #tool(type: string) {
    return defineTool({
      description: "Orders.",
      input: z.object({ call: z.number() }),
      permission: { type, pattern: () => "it", title: ({ call }) => `call ${call}` },
      run: async ({ call }) => {
        this.ran.push(call);
        await sleep(this.#random() * 1_000);
        return "done";
      },
    });
  }

  #receive(bytes: Uint8Array): void {
    const { message } = decode(bytes);
    if (message.type !== "transcription") this.sent.push(JSON.stringify(message.body));
    if (message.type !== "permission_request") return;
    this.asked.push(Number(/call (\d+)/u.exec(JSON.stringify(message.body))?.[1]));
    const body = { permissionId: message.body.id, response: "approve" } as const;
    const answer = encode(100 + ++this.#questions, { type: "permission_response", body });
    setTimeout(() => this.fake.session.handle({ type: "packet", from: USER, bytes: answer }), 100);
  }

  #agents(): SessionAgents {
    const onUserTurn = async ({ text }: { readonly text: string }): Promise<UserTurnDecision> => {
      await sleep(this.#random() * 80);
      const [wants] = /^[a-z]+/u.exec(text) ?? [];
      if (wants === "context") return { context: "The shop is open." };
      if (wants === "answer") return { answer: `The hook knows ${text} And that is all there is to say.` };
      if (wants === "legal") return { answer: `The law says ${text} And that must be heard.`, interruptible: false };
      return wants === "refuse" ? { refuse: `The hook refuses it. Ask for something else.` } : undefined;
    };
    const served = {
      ...agentSchema.parse({ instructions: "Be brief.", onUserTurn }),
      name: "default",
      names: [],
      serverToolBytes: 0,
      mayUse: () => true,
      model: "fake",
      openStream: this.#openStream,
    } as unknown as ServedAgent;
    const agents = new SessionAgents({
      agents: new Map([["default", served]]),
      defaultAgent: served,
      dispatch: "",
      readRoom: () => ({ name: "fake", metadata: "", participants: [] }),
      logger: pino({ level: "silent" }),
    });
    agents.handleConnected();
    return agents;
  }

  readonly #openStream: OpenStream = ({ history, tools, observe }, signal) => {
    const request = { model: "fake", max_tokens: 1, messages: [] };
    const replying = this.#reply(history, signal);
    const call = { request, history, instructions: "", tools, serverTools: [] };
    return observe ? observe(call, replying) : replying;
  };

  async *#reply(history: readonly HistoryMessage[], signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const words = lastUserWords(history);
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const number = this.calls.length;
    const shown = JSON.stringify(history);
    this.calls.push({ number, words: words ?? "", history: shown, at: Date.now() });
    await sleep(this.#random() * (this.#random() < 0.3 ? 1_500 : 100), undefined, { signal });
    yield { type: "message_start", id: "msg", model: "fake", usage };
    const text = `Answer-${number} begins with this clause, and then it goes on. This is more of answer-${number} for you.`;
    yield { type: "block_start", index: 0, blockType: "text" };
    for (const piece of text.match(/\s*\S+/gu) ?? []) {
      await sleep(this.#random() * 60, undefined, { signal });
      yield { type: "block_delta", index: 0, delta: { type: "text", text: piece } };
    }
    yield { type: "block_stop", index: 0, block: { blockType: "text", textContent: text, content: null } };
    const [tool] = /order(?=\d)|leave(?=\d)/u.exec(words ?? "") ?? [];
    if (tool !== undefined) {
      const toolUseId = `toolu_${createId()}`;
      const content = { tool_use_id: toolUseId, tool_name: tool, input: { call: number } };
      yield { type: "block_start", index: 1, blockType: "tool_use", tool: { toolUseId, toolName: tool } };
      yield { type: "block_stop", index: 1, block: { blockType: "tool_use", textContent: null, content } };
    }
    const stopReason = tool === undefined ? "end_turn" : "tool_use";
    yield { type: "message_stop", stopReason, stopDetails: null, usage };
  }
}

/** Returns what the last user message says, or undefined if the model has tool results before it. */
function lastUserWords(history: readonly HistoryMessage[]): string | undefined {
  if (lastUserText(history) === undefined) return undefined;
  return history
    .at(-1)
    ?.blocks.flatMap(({ blockType, textContent }) => (blockType === "text" ? (textContent ?? "") : []))
    .join(" ");
}

function check({ calls, ran, asked, sent, said, typed, backchannels, spoken, fake }: Talked) {
  const turns = [...fake.recorder.turns.values()].toSorted((a, b) => a.turn.position - b.turn.position);
  const kept = turns.filter(({ isReplaced }) => !isReplaced);
  const taken = turns.filter(({ isReplaced }) => isReplaced);
  const holds = ({ blocks }: (typeof turns)[number], number: number) =>
    blocks.some(({ textContent }) => textContent?.includes(`Answer-${number} `));
  const heard = spoken.heard.join(" ");
  const packets = sent.join(" ");
  const void_ = calls.filter(({ number }) => !turns.some((each) => holds(each, number)));
  for (const { number } of void_) {
    for (const place of [heard, packets]) expect(place).not.toContain(`nswer-${number} `);
    expect(ran).not.toContain(number);
    expect(asked).not.toContain(number);
  }
  // A turn that is taken back has called no tool, and the model is not shown it again.
  for (const each of taken) {
    for (const { number } of calls.filter((call) => holds(each, call.number))) {
      expect(ran).not.toContain(number);
      expect(asked).not.toContain(number);
      const replacing = turns.find(({ turn: { position } }) => position > each.turn.position);
      const later = calls.filter(({ at }) => at >= (replacing?.beganAt ?? Number.POSITIVE_INFINITY));
      for (const { history } of later) expect(history).not.toContain(`Answer-${number} `);
    }
  }
  expect(new Set(ran).size).toBe(ran.length);
  // Each word that was said belongs to one message, in the order in which they were said.
  const wordsOf = ({ turn: { input } }: (typeof turns)[number]) =>
    input.flatMap((part) => (part.type === "text" ? (part.original ?? part.text) : [])).join(" ");
  const messages = kept.filter(({ turn: { parentMessageId } }) => parentMessageId !== null).map(wordsOf);
  const all = messages.filter((words) => !typed.includes(words));
  const stored = all.join(" ").replaceAll(/\.|\bMhm\b/gu, "");
  expect(stored.split(/\s+/u).filter(Boolean)).toEqual(said);
  for (const text of typed) expect(kept.map(wordsOf)).toContain(text);
  // What counts as heard was heard, and is how the answer begins.
  const wholeOf = ({ blocks }: (typeof turns)[number]) =>
    blocks.flatMap(({ textContent }) => textContent ?? []).join(" ");
  const isWrong = (each: (typeof turns)[number]) => {
    const words = each.heard?.trim() ?? "";
    return !wholeOf(each).startsWith(words) || !heard.includes(words);
  };
  expect(kept.filter(isWrong)).toEqual([]);
  const uninterruptible = kept.filter((each) => wordsOf(each).startsWith("legal"));
  expect(uninterruptible.filter((each) => each.heard !== undefined)).toEqual([]);
  expect(backchannels).not.toContain(true);
  expect(spoken.falseStarts.count).toBe(0);
  expect(spoken.thought.overSpeech).toBe(0);
  return {
    calls: calls.length,
    turns: turns.length,
    void: void_.length,
    taken: taken.length,
    interrupted: kept.filter((each) => each.heard !== undefined).length,
    backchannels: backchannels.length,
    thoughts: spoken.thought.count,
  };
}

const activities: FakeActivityStream[] = [];

beforeAll(() => {
  initializeLogger({ pretty: false, level: "silent" });
  vi.spyOn(VoiceActivity.prototype, "stream").mockImplementation(() => {
    const stream = new FakeActivityStream();
    activities.push(stream);
    return stream as never;
  });
});

/** Lets virtual time pass until this has ended. */
async function pass(clock: VirtualClock, playing: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = playing.finally(() => (isOver = true));
  while (!isOver) await clock.run(1_000);
  await over;
}

test(
  `over ${TALKS} talks with all of turn-taking switched on, nothing of a void answer has an effect`,
  { timeout: 60_000 + TALKS * 400 },
  async () => {
    const sums = { calls: 0, turns: 0, void: 0, taken: 0, interrupted: 0, backchannels: 0, thoughts: 0 };
    for (const planned of fc.sample(talk, { seed: propertySeed(), numRuns: TALKS })) {
      using clock = new VirtualClock();
      const talked = new Talked(planned, activities);
      await pass(clock, talked.play(planned.turns));
      const counts = check(talked);
      for (const what of ["calls", "turns", "void", "taken", "interrupted", "backchannels", "thoughts"] as const)
        sums[what] += counts[what];
    }
    // The test proves something only if all of this happened often enough.
    const least = Math.min(sums.void, sums.taken, sums.interrupted, sums.backchannels, sums.thoughts);
    expect(least).toBeGreaterThan(TALKS / 4);
    expect(sums.calls / sums.turns).toBeLessThan(1.5);
  },
);

test("a participant who goes on before the answer is heard does not hear it, however long they then think", async () => {
  using clock = new VirtualClock();
  const prompts: string[] = [];
  let isComplete = true;
  const spoken = new SpokenSession({
    identity: USER.identity,
    settings: voiceSchema.parse({ speculate: false }),
    take: (input) => fake.session.handle(input),
    recognizeMs: () => 50,
    seemsComplete: () => isComplete,
    activities,
  });
  const openStream: OpenStream = async function* ({ history }, signal) {
    prompts.push(lastUserText(history) ?? "");
    await sleep(2_000, undefined, { signal });
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    yield { type: "message_start", id: "msg", model: "fake", usage };
    const text = `Here is number ${prompts.length}.`;
    yield { type: "block_start", index: 0, blockType: "text" };
    yield { type: "block_delta", index: 0, delta: { type: "text", text } };
    yield { type: "block_stop", index: 0, block: { blockType: "text", textContent: text, content: null } };
    yield { type: "message_stop", stopReason: "end_turn", stopDetails: null, usage };
  };
  const fake = new FakeSession({
    voice: spoken.voice,
    think: () => ({}),
    publish: async () => {},
    world: { openStream },
  });
  const play = async () => {
    fake.session.handle({ type: "joined", participant: USER });
    spoken.start();
    await spoken.say(["A", "tea."]);
    await spoken.pause(1_000);
    isComplete = false;
    await spoken.say(["And", "a", "cake"]);
    await spoken.pause(5_000);
    await fake.session.close(0);
    spoken.close();
  };

  await pass(clock, play());

  expect(prompts).toEqual(["A tea.", "A tea And a cake"]);
  expect(spoken.heard.join(" ")).toBe("Here is number 2.");
});
