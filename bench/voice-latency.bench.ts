import { setTimeout as sleep } from "node:timers/promises";
import { voice as livekit } from "@livekit/agents";
import { expect, test, vi } from "vitest";
import type { Synthesizer } from "../src/voice/providers/synthesizer.ts";
import { reply, text } from "../src/model-server/step.ts";
import { VoiceAgent, warmUp } from "../test/support/voice-agent.ts";
import { recordVoice, type Spread } from "./report/voice-record.ts";

const TURNS = 8;
const QUESTION = "What time is it?";
const ANSWER = "It is ten past two. And the sun is out.";

/** The moments of a turn, in order. */
const PARTS = {
  recognizerAsked: "silence is noticed, the recognizer is asked",
  understood: "the recognizer has answered",
  modelAsked: "the model is asked",
  firstSentence: "its first sentence is whole",
  firstFrame: "the voice has its first sound",
  sent: "the turn counts as ended, the sound goes out",
  heard: "the participant hears it",
} as const;
type Moments = Record<keyof typeof PARTS, number>;

/**
 * Measures the time from the last sound that the participant sends to the first sound that the participant receives.
 * Everything runs on this machine.
 */
test("from the end of speech to the first sound of the answer", async () => {
  const moments: Partial<Moments> = {};
  watchSent(moments);
  await warmUp(QUESTION);
  await using voice = await VoiceAgent.start({ wrap: (synthesizer) => timed(synthesizer, moments) });
  const user = await voice.speaker("user");
  voice.agent.model.script(() => reply([text(ANSWER)], { chunking: 8 }));
  voice.understand(QUESTION, () => (moments.recognizerAsked ??= performance.now()));
  const turns: Moments[] = [];
  for (let turn = 0; turn <= TURNS; turn++) {
    for (const name of Object.keys(PARTS)) delete moments[name as keyof Moments];
    const { client } = user;
    const before = client.all("transcription").length;
    const { to } = await user.sayAloud(QUESTION);
    await client.until(() => client.all("transcription").length > before, "a transcript");
    moments.understood = performance.now();
    await client.until(
      () =>
        client
          .all("transcription")
          .slice(before)
          .some(({ final }) => final),
      "the end of the turn",
    );
    moments.heard = await user.untilSound(to);
    moments.modelAsked = voice.agent.model.requests.at(-1)?.at ?? 0;
    const since = Object.entries(moments).map(([name, at]) => [name, at - to]);
    // Excludes the first turn, which loads code and data that later turns reuse.
    if (turn > 0) turns.push(Object.fromEntries(since) as Moments);
    await user.untilSilence(1_500);
    await sleep(200);
  }
  console.log(`${turns.length} turns, ms since the participant's last sound (least / middle / most):`);
  expect(turns).toHaveLength(TURNS);
  await recordVoice({ answer: print(turns, PARTS) });
});

/** Records when the first frame of an answer enters LiveKit's own queue. */
function watchSent(moments: Partial<Moments>): void {
  const started = Reflect.get(livekit.AudioOutput.prototype, "onPlaybackStarted") as (at: number) => void;
  vi.spyOn(livekit.AudioOutput.prototype, "onPlaybackStarted").mockImplementation(function (
    this: livekit.AudioOutput,
    at: number,
  ) {
    moments.sent ??= performance.now();
    started.call(this, at);
  });
}

const SLOW_MODEL_MS = 600;
const AHEAD = { ahead: "asked ahead (voice.speculate)", afterwards: "asked when the turn has ended" } as const;

/**
 * Measures the time to the first sound again, with a model that takes a while to produce its first token. Turns with
 * and without preemptive generation alternate.
 */
test("from the end of speech to the first sound, with a slow model", async () => {
  await warmUp(QUESTION);
  const agents = [true, false].map(async (speculate) => {
    const voice = await VoiceAgent.start({ settings: { speculate } });
    // The delay before each event is a third of the whole time, because two events precede the first words.
    voice.agent.model.script(() => reply([text(ANSWER)], { chunking: 80, slow: SLOW_MODEL_MS / 3 }));
    voice.understand(QUESTION);
    return { voice, user: await voice.speaker("user") };
  });
  const [ahead, afterwards] = await Promise.all(agents);
  if (!ahead || !afterwards) throw new TypeError("unreachable");
  await using _ahead = ahead.voice;
  await using _afterwards = afterwards.voice;
  const heardAfter = async ({ user }: typeof ahead) => {
    const { to } = await user.sayAloud(QUESTION);
    const heard = (await user.untilSound(to)) - to;
    await user.untilSilence(2_500);
    return heard;
  };
  const turns: Record<keyof typeof AHEAD, number>[] = [];
  for (let turn = 0; turn <= TURNS; turn++) {
    const times = { ahead: await heardAfter(ahead), afterwards: await heardAfter(afterwards) };
    if (turn > 0) turns.push(times);
  }
  console.log(`${SLOW_MODEL_MS} ms to the model's first words, ms since the participant's last sound:`);
  print(turns, AHEAD);
  expect(turns).toHaveLength(TURNS);
});

const CLAUSES = { clause: "the first sentence has a first clause", whole: "it has none" } as const;
const REST = " a high of twenty-two degrees in the afternoon and a light wind from the west in the evening.";
const LONG_ANSWERS = {
  clause: `It is sunny in Paris today, with${REST}`,
  whole: `It is sunny in Paris today with${REST}`,
} as const;

/**
 * Measures how much sooner a long first sentence is heard if it has a first clause. The model writes about 60 tokens per
 * second.
 */
test("from the end of speech to the first sound of a long sentence", async () => {
  await warmUp(QUESTION);
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  voice.understand(QUESTION);
  const heardAfter = async (answer: string) => {
    voice.agent.model.script(() => reply([text(answer)], { chunking: 4, slow: 17 }));
    const { to } = await user.sayAloud(QUESTION);
    const heard = (await user.untilSound(to)) - to;
    await user.untilSilence(2_500);
    return heard;
  };
  const turns: Record<keyof typeof CLAUSES, number>[] = [];
  for (let turn = 0; turn <= TURNS; turn++) {
    const times = { clause: await heardAfter(LONG_ANSWERS.clause), whole: await heardAfter(LONG_ANSWERS.whole) };
    if (turn > 0) turns.push(times);
  }
  console.log("a long first sentence, ms since the participant's last sound:");
  print(turns, CLAUSES);
  expect(turns).toHaveLength(TURNS);
});

/** The moments of an interruption, in order. */
const INTERRUPTION = {
  detected: "speech is detected",
  stopped: "the agent stops its sound",
  silent: "the participant hears nothing more",
  sinceDetected: "from detection to nothing more",
} as const;
type Interruption = Record<keyof typeof INTERRUPTION, number>;

/**
 * Measures how long an answer is still heard after the participant has begun to interrupt it: from the first sound that
 * the participant sends to the last sound that the participant receives.
 */
test("from the beginning of an interruption to silence", async () => {
  await warmUp(QUESTION);
  const moments = watchInterruptions();
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  voice.understand(QUESTION);
  const turns: Interruption[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    voice.agent.model.script(() => reply([text("one two three four five six seven eight nine ten ".repeat(3))]));
    const asked = performance.now();
    await user.client.say("Count, please.");
    await user.untilSound(asked);
    await sleep(800 + turn * 90);
    voice.agent.model.script(() => reply([text("Good.")]));
    delete moments.detected;
    delete moments.stopped;
    const { from: began } = await user.sayAloud(QUESTION);
    const silent = user.lastSoundBefore(began + 900);
    const { detected = Number.NaN, stopped = Number.NaN } = moments;
    turns.push({
      detected: detected - began,
      stopped: stopped - began,
      silent: silent - began,
      sinceDetected: silent - detected,
    });
    await user.untilSilence(2_000);
  }
  console.log(`${TURNS} interruptions, ms since the participant's first sound (least / middle / most):`);
  expect(turns).toHaveLength(TURNS);
  await recordVoice({ interruption: print(turns, INTERRUPTION) });
});

/**
 * Records when AgentSession detects speech and when it pauses its output. Only LiveKit's own classes expose these
 * moments.
 */
function watchInterruptions(): Partial<Record<"detected" | "stopped", number>> {
  const moments: Partial<Record<"detected" | "stopped", number>> = {};
  const emit = Reflect.get(livekit.AgentSession.prototype, "emit") as livekit.AgentSession["emit"];
  vi.spyOn(livekit.AgentSession.prototype, "emit").mockImplementation(function (this: livekit.AgentSession, ...args) {
    const [name, event] = args;
    if (
      name === livekit.AgentSessionEventTypes.UserStateChanged &&
      "newState" in event &&
      event.newState === "speaking"
    )
      moments.detected ??= performance.now();
    return emit.apply(this, args);
  });
  const pause = Reflect.get(livekit.ParticipantAudioOutput.prototype, "pause") as () => void;
  vi.spyOn(livekit.ParticipantAudioOutput.prototype, "pause").mockImplementation(function (
    this: livekit.ParticipantAudioOutput,
  ) {
    moments.stopped ??= performance.now();
    pause.call(this);
  });
  return moments;
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => Math.round(sorted.at(index) ?? Number.NaN);
  return [at(0), at(Math.floor(sorted.length / 2)), at(-1)];
}

function timed(synthesizer: Synthesizer, moments: Partial<Moments>): Synthesizer {
  return {
    async *speak(words, options) {
      const timedWords = async function* () {
        let said = "";
        for await (const word of words) {
          said += word;
          if (/[.?!](?: |$)/.test(said)) moments.firstSentence ??= performance.now();
          yield word;
        }
      };
      for await (const frame of synthesizer.speak(timedWords(), options)) {
        moments.firstFrame ??= performance.now();
        yield frame;
      }
    },
    close: () => synthesizer.close(),
  };
}

/** Prints the minimum, median and maximum of each moment, and returns them by title. */
function print<Name extends string>(
  rows: readonly Record<Name, number>[],
  titles: Record<Name, string>,
): Record<string, Spread> {
  const spreads = Object.entries<string>(titles).map(
    ([name, title]) => [title, spread(rows.map((row) => row[name as Name]))] as const,
  );
  for (const [title, values] of spreads)
    console.log(`${title.padEnd(45)} ${values.map((ms) => String(ms).padStart(6)).join("")}`);
  return Object.fromEntries(spreads);
}
