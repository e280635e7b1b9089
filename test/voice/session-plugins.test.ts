import { tts } from "@livekit/agents";
import { AudioFrame } from "@livekit/rtc-node";
import { pino } from "pino";
import { beforeAll, expect, test } from "vitest";
import type { VoiceSession } from "../../src/agent/plugins/speech-plugins.ts";
import { reply, text } from "../../src/model-server/step.ts";
import { describeError } from "../../src/worker/logger.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

beforeAll(() => warmUp());

/** A plugin that is called for each sentence, and says a second of sound. */
class ToneVoice extends tts.TTS {
  readonly label = "tone.TTS";
  readonly said: string[] = [];
  isClosed = false;

  constructor() {
    super(16_000, 1, { streaming: false });
  }

  synthesize(words: string): tts.ChunkedStream {
    this.said.push(words);
    const samples = new Int16Array(16_000).fill(5_000);
    class Stream extends tts.ChunkedStream {
      readonly label = "tone.TTS";

      protected override async run(): Promise<void> {
        const frame = new AudioFrame(samples, 16_000, 1, samples.length);
        this.queue.put({ requestId: "1", segmentId: "1", frame, final: true });
      }
    }
    return new Stream(words, this);
  }

  stream(): tts.SynthesizeStream {
    throw new TypeError("It does not stream");
  }

  override async close(): Promise<void> {
    this.isClosed = true;
  }
}

test("an agent's own voice is created once for its session, overrides the config's voice, and is closed with the session", async () => {
  const lines: string[] = [];
  const options = { level: "info", serializers: { error: describeError } };
  const logger = pino(options, { write: (line: string) => void lines.push(line) });
  const [own, other] = [new ToneVoice(), new ToneVoice()];
  const sessions: VoiceSession[] = [];
  const speak = (session: VoiceSession) => {
    sessions.push(session);
    return own;
  };
  {
    await using voice = await VoiceAgent.start({
      logger,
      settings: { speak: () => other },
      agents: { billing: { instructions: "Be brief.", voice: { speak } } },
      metadata: '{"agent": "billing", "customer": 7}',
    });
    const user = await voice.speaker("user", { preferredLanguage: "de" });
    voice.agent.model.script(() => reply([text("Guten Tag. Bis bald.")]));
    for (const _ of [1, 2]) {
      await user.client.answerTo(await user.client.say("Hallo"));
      await user.untilSilence();
    }
    expect(own.isClosed).toBe(false);
  }
  expect(own.said).toEqual(["Guten Tag.", "Bis bald.", "Guten Tag.", "Bis bald."]);
  expect([other.said, own.isClosed]).toEqual([[], true]);
  expect(sessions).toMatchObject([
    {
      agent: "billing",
      language: "de",
      attributes: {},
      metadata: { customer: 7 },
      participants: [{ identity: "user" }],
    },
  ]);
  const created = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "voice created");
  expect(created).toMatchObject([{ plugin: "tone.TTS", streaming: false, sampleRate: 16_000, from: "agent billing" }]);
});
