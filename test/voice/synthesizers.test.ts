import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { LLMock } from "@copilotkit/aimock";
import { initializeLogger, tts } from "@livekit/agents";
import { AudioFrame } from "@livekit/rtc-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EspeakSynthesizer } from "../../src/voice/providers/espeak/espeak-synthesizer.ts";
import { PluginSynthesizer } from "../../src/voice/providers/plugin-synthesizer.ts";
import { splitSentences, type Synthesizer } from "../../src/voice/providers/synthesizer.ts";
import { processStart } from "../../src/worker/process/running-processes.ts";
import { tempFolder } from "../support/temp-folder.ts";

const { signal } = new AbortController();
let server: LLMock;

beforeAll(() => initializeLogger({ pretty: false, level: "silent" }));
beforeAll(async () => {
  server = new LLMock({ host: "127.0.0.1", port: 0, logLevel: "silent" });
  await server.start();
});
afterAll(() => server.stop());

async function* pieces(...texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}

async function secondsOf(synthesizer: Synthesizer, text: string, language = "en"): Promise<number> {
  let seconds = 0;
  for await (const { samplesPerChannel, sampleRate } of synthesizer.speak(pieces(text), { language, signal }))
    seconds += samplesPerChannel / sampleRate;
  return seconds;
}

async function openai(): Promise<Synthesizer> {
  const { TTS } = await import("@livekit/agents-plugin-openai");
  return new PluginSynthesizer(new TTS({ apiKey: "test", baseURL: `${server.url}/v1` }));
}

test("a sentence is sent to the voice as soon as the next one starts", async () => {
  const sentences: string[] = [];
  for await (const sentence of splitSentences(pieces("One", " two. Thr", "ee. "), "en")) sentences.push(sentence);
  expect(sentences).toEqual(["One two.", "Three."]);
});

test("espeak-ng speaks for as long as a text takes, in any language whether supported or not", async () => {
  const synthesizer = new EspeakSynthesizer({ kind: "package" }, undefined);
  const short = await secondsOf(synthesizer, "It is ten.");
  const long = await secondsOf(
    synthesizer,
    "It is ten past two. And the sun is out in the north, but not in the south.",
  );
  expect([short > 0.4, long > 2 * short]).toEqual([true, true]);
  expect(await secondsOf(synthesizer, "- Guten Morgen.", "de-DE")).toBeGreaterThan(0.4);
  expect(await secondsOf(synthesizer, "Hello.", "tlh")).toBeGreaterThan(0.2);
  // If the name of this voice were used as a path, it would lead to an endless file.
  expect(await secondsOf(synthesizer, "Hello.", "../../../../../../dev/urandom")).toBeGreaterThan(0.2);
  await synthesizer.close();
});

test("a hanging espeak-ng is ended with the answer that it speaks", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "espeak-ng");
  await writeFile(path, `#!/bin/sh\necho $$ > ${folder.path}/pid\nexec sleep 60\n`, { mode: 0o755 });
  const cut = new AbortController();
  const synthesizer = new EspeakSynthesizer({ kind: "program", path }, undefined);
  const spoken = synthesizer.speak(pieces("Hello."), { language: "en", signal: cut.signal }).next();
  const pid = async () => Number(await readFile(join(folder.path, "pid"), "utf8").catch(() => ""));
  await expect.poll(pid).toBeGreaterThan(0);
  const hung = await pid();

  cut.abort();
  expect(await spoken).toMatchObject({ done: true });
  await expect.poll(() => processStart(hung)).toBeUndefined();
});

test("an espeak-ng that cannot be run is reported", async () => {
  const synthesizer = new EspeakSynthesizer({ kind: "program", path: "/nowhere/espeak-ng" }, undefined);
  await expect(secondsOf(synthesizer, "Hello.")).rejects.toThrow("espeak-ng failed");
});

test("a server with OpenAI's API speaks", async () => {
  const second = Buffer.alloc(48_000).toString("base64");
  server.on({ endpoint: "speech" }, { audio: second, format: "pcm" });
  expect(await secondsOf(await openai(), "Hello.")).toBeCloseTo(1, 1);
});

test("a server that fails causes an error, and no unhandled rejection", async () => {
  server.reset();
  server.on({ endpoint: "speech" }, { error: { message: "No", type: "server_error" }, status: 400 });
  await expect(secondsOf(await openai(), "Hello.")).rejects.toMatchObject({
    message: "openai.TTS failed",
    cause: { status: 400 },
  });
});

/**
 * A plugin whose stream fails for one particular text. For any other text, the stream continues until it is released.
 */
class SharedVoice extends tts.TTS {
  readonly label: string = "shared";
  readonly released = Promise.withResolvers<void>();

  constructor() {
    super(8_000, 1, { streaming: false });
  }

  synthesize(words: string): tts.ChunkedStream {
    const { released } = this;
    class Stream extends tts.ChunkedStream {
      readonly label = "shared";

      protected async run(): Promise<void> {
        if (words === "Fail.") throw new Error("Not this one");
        await released.promise;
        const frame = new AudioFrame(new Int16Array(24_000), 24_000, 1, 24_000);
        this.queue.put({ requestId: "1", segmentId: "1", frame, final: true });
      }
    }
    return new Stream(words, this, { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 1_000 });
  }

  stream(): tts.SynthesizeStream {
    throw new TypeError("It cannot");
  }
}

test("a voice that never stops is stopped, and named", async () => {
  class EndlessVoice extends SharedVoice {
    override readonly label: string = "endless";

    override synthesize(words: string): tts.ChunkedStream {
      const frame = new AudioFrame(new Int16Array(240_000), 24_000, 1, 240_000);
      class Stream extends tts.ChunkedStream {
        readonly label = "endless";

        protected async run(): Promise<void> {
          while (!this.abortSignal.aborted) {
            this.queue.put({ requestId: "1", segmentId: "1", frame, final: false });
            await setImmediate();
          }
        }
      }
      return new Stream(words, this, { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 1_000 });
    }
  }
  await expect(secondsOf(new PluginSynthesizer(new EndlessVoice()), "Hello.")).rejects.toThrow(
    "endless: endless sound",
  );
});

test("a text that fails for one session is heard normally in another that shares the voice", async () => {
  const voice = new SharedVoice();
  const synthesizer = new PluginSynthesizer(voice);
  const other = secondsOf(synthesizer, "Hello.");
  await expect(secondsOf(synthesizer, "Fail.")).rejects.toThrow("shared failed");

  voice.released.resolve();
  expect(await other).toBe(1);
});
