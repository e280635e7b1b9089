import { setTimeout as sleep } from "node:timers/promises";
import { tts, voice as livekitVoice } from "@livekit/agents";
import { AudioFrame } from "@livekit/rtc-node";
import { pino } from "pino";
import { beforeAll, expect, test } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { describeError } from "../../src/worker/logger.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

const ANSWER = "It is ten past two. The sun is out.";

beforeAll(() => warmUp());

/** A tone of this length, as one frame. */
function tone(seconds: number, sampleRate = 24_000): AudioFrame {
  const samples = Int16Array.from({ length: seconds * sampleRate }, (_, at) => 8_000 * Math.sin(at / 10));
  return new AudioFrame(samples, sampleRate, 1, samples.length);
}

type Put = (frame: AudioFrame, words?: livekitVoice.TimedString[]) => void;

interface Behavior {
  /** What the plugin does for each sentence. */
  readonly run: (put: Put, plugin: BadVoice) => Promise<void>;
  readonly stream?: () => void;
  readonly close?: () => Promise<void>;
}

/** A plugin that streams, and does what a test wants. */
class BadVoice extends tts.TTS {
  readonly label: string;
  readonly behavior: Behavior;

  constructor(behavior: Behavior, label = "bad.TTS") {
    super(24_000, 1, { streaming: true });
    this.behavior = behavior;
    this.label = label;
  }

  synthesize(): tts.ChunkedStream {
    throw new TypeError("It streams");
  }

  stream(): tts.SynthesizeStream {
    this.behavior.stream?.();
    return new BadStream(this);
  }

  override async close(): Promise<void> {
    await this.behavior.close?.();
  }
}

class BadStream extends tts.SynthesizeStream {
  readonly label: string;
  readonly #plugin: BadVoice;

  constructor(plugin: BadVoice) {
    super(plugin);
    this.label = plugin.label;
    this.#plugin = plugin;
  }

  protected override async run(): Promise<void> {
    const put: Put = (frame, timedTranscripts) =>
      this.queue.put({
        requestId: "1",
        segmentId: "1",
        frame,
        final: false,
        ...(timedTranscripts && { timedTranscripts }),
      });
    await this.#plugin.behavior.run(put, this.#plugin);
  }
}

const speaks = async (put: Put) => put(tone(0.3));
const word = (said: string, startTime: number, endTime: number) =>
  livekitVoice.createTimedString({ text: said, startTime, endTime });
const forever = () => new Promise<never>(() => {});

/** Opens a session with this voice, asks a question, and returns what came of it. */
async function ask(...voices: readonly (() => tts.TTS)[]) {
  const lines: string[] = [];
  const logger = pino(
    { level: "info", serializers: { error: describeError } },
    { write: (line: string) => void lines.push(line) },
  );
  const began = performance.now();
  let seconds = 0;
  let answer = "";
  {
    await using agent = await VoiceAgent.start({ logger, choice: { tts: "none" }, settings: { speak: voices } });
    const user = await agent.speaker("user");
    agent.agent.model.script(() => reply([text(ANSWER)]));
    answer = await user.client.answerTo(await user.client.say("What time is it?"), 20_000);
    await user.untilSilence();
    seconds = user.secondsHeard();
  }
  return { answer, seconds, log: lines.join(""), took: performance.now() - began };
}

test.each<[string, Behavior, string]>([
  ["throws when a stream is opened", { run: speaks, stream: () => fail("No stream") }, "bad.TTS failed"],
  ["throws before the first sound", { run: async () => fail("No sound today") }, "bad.TTS failed"],
  ["sends no sound and never ends", { run: forever }, "bad.TTS: no sound for 5 s"],
  ["ends without a sound", { run: async () => {} }, "bad.TTS: no sound"],
  ["sends only empty frames", { run: async (put) => put(tone(0)) }, "bad.TTS: no sound"],
  ["sends an impossible sample rate", { run: async (put) => put(tone(1, 3)) }, "sound with a sample rate of 3"],
])("if a voice %s, the answer is shown, and the log names the plugin", async (_, behavior, problem) => {
  const { answer, log, seconds } = await ask(() => new BadVoice(behavior));
  expect(answer).toBe(ANSWER);
  expect(seconds).toBe(0);
  expect(log).toContain(problem);
});

test.each<[string, Behavior, string]>([
  ["throws late", { run: async (put) => (put(tone(0.3)), fail("Too late")) }, "bad.TTS failed"],
  ["never ends", { run: async (put) => (put(tone(0.3)), await forever()) }, "bad.TTS: no sound for 5 s"],
])(
  "if a voice %s, its sound is heard, the answer is shown, and the log names the plugin",
  async (_, behavior, problem) => {
    const { answer, log, seconds } = await ask(() => new BadVoice(behavior));
    expect(answer).toBe(ANSWER);
    expect(seconds).toBeGreaterThan(0.2);
    expect(log).toContain(problem);
  },
);

test.each<[string, Behavior, number]>([
  [
    "has another sample rate than it said, and changes it",
    { run: async (put) => (put(tone(0.3, 8_000)), put(tone(0.3, 48_000))) },
    1.2,
  ],
  [
    "sends the times of words out of order",
    { run: async (put) => put(tone(0.3), [word("past", 0.2, 0.1), word("It", 5, 1)]) },
    0.6,
  ],
  [
    "reports errors that are none",
    { run: async (put, plugin) => (put(tone(0.3)), void plugin.emit("error", {} as never)) },
    0.6,
  ],
  [
    "sends sound after its end",
    { run: async (put) => (put(tone(0.3)), void setTimeout(() => put(tone(0.3)), 20)) },
    0.6,
  ],
])("if a voice %s, the whole answer is heard", async (_, behavior, expected) => {
  const { answer, seconds } = await ask(() => new BadVoice(behavior));
  expect(answer).toBe(ANSWER);
  expect(Math.abs(seconds - expected)).toBeLessThan(0.2);
});

test.each<[string, () => Promise<void>, string]>([
  ["rejects", async () => fail("Not now"), '"type":"Error"'],
  ["hangs", forever, "TimeoutError"],
])("a voice whose close %s is named, and the session ends", async (_, close, problem) => {
  const { log, seconds } = await ask(() => new BadVoice({ run: speaks, close }));
  expect(seconds).toBeGreaterThan(0.4);
  expect(log).toContain('"plugin":"bad.TTS"');
  expect(log).toContain("closing speech plugin failed");
  expect(log).toContain(problem);
});

test.each<[string, () => unknown, string]>([
  ["throws", () => fail("API key is required"), "voice.speak failed"],
  [
    "returns nothing",
    () => undefined,
    "expected the function to return a voice (TTS) of @livekit/agents, got undefined",
  ],
  [
    "returns a plugin of another copy of @livekit/agents",
    () => ({ label: "other.TTS", capabilities: {}, stream: () => {} }),
    "other.TTS belongs to another copy of @livekit/agents",
  ],
])("if the function that creates a voice %s, the answer is shown, and the log says why", async (_, create, problem) => {
  const { answer, log } = await ask(create as () => tts.TTS);
  expect(answer).toBe(ANSWER);
  expect(log).toContain(problem);
});

test.each<[string, Behavior]>([
  ["throws", { run: async () => fail("Down") }],
  ["gets stuck", { run: forever }],
])("if the first voice of a list %s, the next one says the same sentence", async (_, behavior) => {
  const { seconds, log } = await ask(
    () => new BadVoice(behavior, "first.TTS"),
    () => new BadVoice({ run: speaks }, "second.TTS"),
  );
  expect(Math.abs(seconds - 0.6)).toBeLessThan(0.2);
  expect(log).toContain("voice failed, the next one continues");
  expect(log).toMatch(/first\.TTS( failed|: no sound)/u);
});

test("if the first voice of a list fails in a sentence, the next one begins with the next sentence", async () => {
  const { seconds } = await ask(
    () => new BadVoice({ run: async (put) => (put(tone(0.3)), await sleep(10), fail("Down")) }),
    () => new BadVoice({ run: async (put) => put(tone(1)) }),
  );
  expect(Math.abs(seconds - 1.3)).toBeLessThan(0.3);
});

function fail(message: string): never {
  throw new Error(message);
}
