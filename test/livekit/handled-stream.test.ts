import { initializeLogger, tts } from "@livekit/agents";
import { afterEach, beforeEach, expect, test } from "vitest";
import { handled } from "../../src/livekit/handled-stream.ts";

class FailingStream extends tts.ChunkedStream {
  readonly label = "failing";

  protected async run(): Promise<void> {
    throw new Error("No sound");
  }
}

class FailingVoice extends tts.TTS {
  readonly label = "failing";

  constructor() {
    super(8_000, 1, { streaming: false });
    this.on("error", () => {});
  }

  synthesize(text: string): tts.ChunkedStream {
    return new FailingStream(text, this, { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 1_000 });
  }

  stream(): tts.SynthesizeStream {
    throw new TypeError("It cannot");
  }
}

const rejections: unknown[] = [];
const note = (error: unknown) => void rejections.push(error);
let others: NodeJS.UnhandledRejectionListener[] = [];

beforeEach(() => {
  initializeLogger({ pretty: false, level: "silent" });
  rejections.length = 0;
  others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection").on("unhandledRejection", note);
});
afterEach(() => {
  process.removeAllListeners("unhandledRejection");
  for (const other of others) process.on("unhandledRejection", other);
});

async function readToEnd(stream: tts.ChunkedStream): Promise<void> {
  for await (const _ of stream);
  // Node reports an unhandled rejection a moment after the promise was rejected.
  await new Promise((resolve) => setTimeout(resolve, 50));
}

test("a stream that fails reports why, and causes no rejection that would end the process", async () => {
  const failures: unknown[] = [];
  await readToEnd(handled(new FailingVoice().synthesize("Hello."), (error) => failures.push(error)));

  expect(failures).toEqual([expect.objectContaining({ message: "No sound" })]);
  expect(rejections).toEqual([]);
});

test("without our changes, LiveKit's stream does", async () => {
  await readToEnd(new FailingVoice().synthesize("Hello."));

  expect(rejections).toEqual([expect.objectContaining({ message: "No sound" })]);
});
