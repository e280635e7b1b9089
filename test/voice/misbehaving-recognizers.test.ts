import { stt } from "@livekit/agents";
import { pino } from "pino";
import { beforeAll, expect, test, vi } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { describeError } from "../../src/worker/logger.ts";
import { Speaker } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

const QUESTION = "What time is it?";
const ANSWER = "It is ten past two.";

beforeAll(() => warmUp(QUESTION));

const { INTERIM_TRANSCRIPT, FINAL_TRANSCRIPT } = stt.SpeechEventType;

function words(type: stt.SpeechEventType, said: string): stt.SpeechEvent {
  const language = "en" as stt.SpeechData["language"];
  return { type, alternatives: [{ text: said, language, startTime: 0, endTime: 0, confidence: 1 }] };
}

interface Heard {
  readonly put: (event: stt.SpeechEvent) => void;
  /** Resolves once the question has been heard by this stream. */
  readonly question: () => Promise<void>;
  /** How many streams were opened before this one. */
  readonly before: number;
  readonly plugin: BadRecognizer;
}

interface Behavior {
  readonly run: (heard: Heard) => Promise<void>;
  readonly stream?: (before: number) => void;
  readonly close?: () => Promise<void>;
}

/** A plugin that streams, and does what a test wants. */
class BadRecognizer extends stt.STT {
  readonly label: string;
  readonly behavior: Behavior;
  opened = 0;

  constructor(behavior: Behavior, label = "bad.STT") {
    super({ streaming: true, interimResults: true });
    this.behavior = behavior;
    this.label = label;
  }

  protected override async _recognize(): Promise<stt.SpeechEvent> {
    throw new TypeError("It streams");
  }

  override stream(): stt.SpeechStream {
    const before = this.opened++;
    this.behavior.stream?.(before);
    return new BadStream(this, before);
  }

  override async close(): Promise<void> {
    await this.behavior.close?.();
  }
}

class BadStream extends stt.SpeechStream {
  readonly label: string;
  readonly #plugin: BadRecognizer;
  readonly #before: number;

  constructor(plugin: BadRecognizer, before: number) {
    super(plugin);
    this.label = plugin.label;
    this.#plugin = plugin;
    this.#before = before;
  }

  protected override async run(): Promise<void> {
    const put = (event: stt.SpeechEvent) => this.queue.put(event);
    const heard = { put, question: () => this.#question(), before: this.#before, plugin: this.#plugin };
    await this.#plugin.behavior.run(heard);
  }

  async #question(): Promise<void> {
    let loudMs = 0;
    for await (const frame of this.input) {
      if (typeof frame === "symbol") continue;
      const isLoud = frame.data.some((sample) => Math.abs(sample) > 1_000);
      if (isLoud) loudMs += (frame.samplesPerChannel / frame.sampleRate) * 1_000;
      if (loudMs > 300 && !isLoud) return;
    }
    await forever();
  }
}

const forever = () => new Promise<never>(() => {});

async function hears({ put, question }: Heard): Promise<void> {
  await question();
  put(words(FINAL_TRANSCRIPT, QUESTION));
  await forever();
}

/** Fails the first stream as `fail` does. Later streams hear the question. */
const onceBad =
  (fail: (heard: Heard) => Promise<void>) =>
  (heard: Heard): Promise<void> =>
    heard.before === 0 ? fail(heard) : hears(heard);

/** Opens a session with these recognizers, speaks a question, and returns what came of it. */
async function ask(...recognizers: readonly (() => stt.STT)[]) {
  const lines: string[] = [];
  const options = { level: "info", serializers: { error: describeError } };
  const logger = pino(options, { write: (line: string) => void lines.push(line) });
  const log = () => lines.join("");
  let answer = "";
  let asked: unknown;
  {
    await using agent = await VoiceAgent.start({ logger, settings: { listen: recognizers } });
    const user = await agent.speaker("user");
    agent.agent.model.script(() => reply([text(ANSWER)]));
    await user.say(QUESTION);
    const said = await user.client.next("transcription", ({ final }) => final);
    asked = said.text;
    answer = await user.client.answerTo(said.id, 20_000);
  }
  return { asked, answer, log: log() };
}

test.each<[string, Behavior, string]>([
  [
    "throws when its stream is opened",
    { run: hears, stream: (before) => void (before === 0 && fail("No stream")) },
    "bad.STT failed",
  ],
  ["throws at once", { run: onceBad(async () => fail("No")) }, "bad.STT failed"],
  [
    "throws late",
    {
      run: onceBad(
        async ({ question, put }) => (await question(), put(words(INTERIM_TRANSCRIPT, "What")), fail("Late")),
      ),
    },
    "bad.STT failed",
  ],
  ["ends early", { run: onceBad(async () => {}) }, "bad.STT: ended too early"],
  [
    "ends in the middle of a question",
    { run: onceBad(async ({ question }) => question()) },
    "bad.STT: ended too early",
  ],
  [
    "sends a transcript without a text",
    {
      run: onceBad(
        async ({ question, put }) => (
          await question(),
          put({ type: FINAL_TRANSCRIPT } as stt.SpeechEvent),
          await forever()
        ),
      ),
    },
    "bad.STT: a transcript without a text",
  ],
])(
  "if a recognizer %s, the question is understood by its next stream, and the log names the plugin",
  async (_, behavior, problem) => {
    const { asked, answer, log } = await ask(() => new BadRecognizer(behavior));
    expect([asked, answer]).toEqual([QUESTION, ANSWER]);
    expect(log).toContain(problem);
    expect(log).not.toContain("voice ended");
  },
);

test.each<[string, Behavior]>([
  [
    "sends empty transcripts and words out of order",
    {
      run: async ({ put, question }) => (
        await question(),
        put(words(FINAL_TRANSCRIPT, "")),
        put(words(FINAL_TRANSCRIPT, QUESTION)),
        put(words(INTERIM_TRANSCRIPT, "What")),
        await forever()
      ),
    },
  ],
  [
    "sends words after its end",
    {
      run: async (heard) => (
        await heard.question(),
        heard.put(words(FINAL_TRANSCRIPT, QUESTION)),
        void setTimeout(() => heard.put(words(FINAL_TRANSCRIPT, "Late.")), 20)
      ),
    },
  ],
  [
    "reports errors that are none",
    {
      run: async (heard) => (
        heard.plugin.emit("error", { type: "stt_error", recoverable: false } as never),
        hears(heard)
      ),
    },
  ],
])("if a recognizer %s, the question is understood", async (_, behavior) => {
  const { asked, answer, log } = await ask(() => new BadRecognizer(behavior));
  expect([asked, answer]).toEqual([QUESTION, ANSWER]);
  expect(log).not.toContain("voice ended");
});

test("a recognizer whose close rejects is named, and the session ends", async () => {
  const { answer, log } = await ask(() => new BadRecognizer({ run: hears, close: async () => fail("Not now") }));
  expect(answer).toBe(ANSWER);
  expect(log).toContain('"plugin":"bad.STT"');
  expect(log).toContain("closing speech plugin failed");
});

test("if no recognizer can be created, typed messages are answered, and the log says why", async () => {
  const lines: string[] = [];
  const options = { level: "info", serializers: { error: describeError } };
  const logger = pino(options, { write: (line: string) => void lines.push(line) });
  await using agent = await VoiceAgent.start({ logger, settings: { listen: () => fail("API key is required") } });
  const client = await agent.agent.client("user");
  agent.agent.model.script(() => reply([text(ANSWER)]));
  expect(await client.answerTo(await client.say(QUESTION))).toBe(ANSWER);
  const user = new Speaker(client);
  await user.publish();
  await vi.waitUntil(() => lines.join("").includes("voice.listen failed"), { timeout: 5_000 });
  await user.close();
});

test("if the first recognizer of a list fails in a question, the next one hears all of it", async () => {
  const { asked, log } = await ask(
    () => new BadRecognizer({ run: async ({ question }) => (await question(), fail("Down")) }, "first.STT"),
    () => new BadRecognizer({ run: hears }, "second.STT"),
  );
  expect(asked).toBe(QUESTION);
  expect(log).toContain("first.STT failed");
});

test("a recognizer that fails in one session keeps hearing in another that shares it", async () => {
  const shared = new BadRecognizer({
    run: async (heard) => (heard.before === 0 ? fail("Down") : hears(heard)),
  });
  shared.on("error", () => {});
  await using first = await VoiceAgent.start({ stt: shared });
  await using second = await VoiceAgent.start({ stt: shared });
  const [one, other] = [await first.speaker("one"), await second.speaker("other")];
  for (const [agent, user] of [
    [first, one],
    [second, other],
  ] as const) {
    agent.agent.model.script(() => reply([text(ANSWER)]));
    await user.say(QUESTION);
    const said = await user.client.next("transcription", ({ final }) => final);
    expect(await user.client.answerTo(said.id)).toBe(ANSWER);
  }
});

function fail(message: string): never {
  throw new Error(message);
}
