import { stt } from "@livekit/agents";
import { expect, test } from "vitest";
import { FallbackRecognizer } from "../../../src/voice/plugins/fallback-recognizer.ts";

/** A recognizer that is called for each utterance, and answers as a test wants. */
class Recognizer extends stt.STT {
  readonly label: string;
  requests = 0;
  readonly #answer: () => Promise<string>;

  constructor(label: string, answer: () => Promise<string>) {
    super({ streaming: false, interimResults: false });
    this.label = label;
    this.#answer = answer;
  }

  protected override async _recognize(): Promise<stt.SpeechEvent> {
    this.requests += 1;
    const text = await this.#answer();
    const language = "en" as stt.SpeechData["language"];
    const alternative = { text, language, startTime: 0, endTime: 0, confidence: 1 };
    return { type: stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives: [alternative] };
  }

  override stream(): stt.SpeechStream {
    throw new TypeError("It does not stream");
  }
}

const down = async () => {
  throw new Error("Down");
};

test.each([
  ["fails", down, "first.STT failed"],
  ["hangs", () => new Promise<never>(() => {}), "first.STT failed"],
])("if a recognizer %s, the next one is asked, and asked first from then on", async (_, answer, problem) => {
  const problems: unknown[] = [];
  const [first, second] = [new Recognizer("first.STT", answer), new Recognizer("second.STT", async () => "Hello.")];
  const recognizer = new FallbackRecognizer([first, second], (error) => problems.push(error));
  for (const _ of [1, 2]) {
    const { alternatives } = await recognizer.recognize([]);
    expect(alternatives?.[0].text).toBe("Hello.");
  }
  expect([first.requests, second.requests]).toEqual([1, 2]);
  expect(problems).toMatchObject([{ message: problem }]);
});

test("if all recognizers fail, the last one is named", async () => {
  const recognizer = new FallbackRecognizer([new Recognizer("a", down), new Recognizer("b", down)], () => {});
  await expect(recognizer.recognize([])).rejects.toThrow("b failed");
});
