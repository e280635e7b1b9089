import { stt } from "@livekit/agents";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LimitedRecognizer, type RecognitionListener } from "../../../src/voice/listen/limited-recognizer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/**
 * A recognizer that returns the given results, one for each request. If a result is `undefined`, the request is never
 * answered.
 */
class Recognizer extends stt.STT {
  readonly label = "test";
  readonly aborted: boolean[] = [];
  readonly #answers: (string | undefined)[];

  constructor(...answers: (string | undefined)[]) {
    super({ streaming: false, interimResults: false });
    this.#answers = answers;
  }

  protected override async _recognize(_frames: unknown, signal?: AbortSignal): Promise<stt.SpeechEvent> {
    const request = this.aborted.push(false) - 1;
    signal?.addEventListener("abort", () => (this.aborted[request] = true));
    const text = this.#answers[request];
    if (text === undefined) return new Promise(() => {});
    const alternative = { text, language: "en" as stt.SpeechData["language"], startTime: 0, endTime: 0, confidence: 1 };
    return { type: stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives: [alternative] };
  }

  override stream(): stt.SpeechStream {
    throw new Error("It does not stream");
  }
}

function limitedRecognizer(...answers: (string | undefined)[]) {
  const events: string[] = [];
  const inner = new Recognizer(...answers);
  const listener: RecognitionListener = {
    handleRequest: () => events.push("asked"),
    handleResponse: (answer) => events.push(answer),
  };
  const recognizer = new LimitedRecognizer(inner, [listener]);
  return { inner, recognizer, events };
}

test("a request that hangs is given up on, and later speech is recognized", async () => {
  const { inner, recognizer, events } = limitedRecognizer(undefined, "Hello.");
  const hanging = recognizer.recognize([]).catch((error: unknown) => String(error));

  await vi.advanceTimersByTimeAsync(5_999);
  expect(events).toEqual(["asked"]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await hanging).toContain("took too long");
  expect(inner.aborted).toEqual([true]);

  const event = await recognizer.recognize([]);
  expect(event.alternatives?.[0].text).toBe("Hello.");
  expect(events).toEqual(["asked", "given_up", "asked", "words"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("an empty transcript counts as none", async () => {
  const { recognizer, events } = limitedRecognizer(" ");
  await recognizer.recognize([]);
  expect(events).toEqual(["asked", "nothing"]);
});

test("a cancelled request does not count as hanging", async () => {
  const { recognizer, events } = limitedRecognizer(undefined);
  const call = new AbortController();
  const recognized = recognizer.recognize([], call.signal);
  call.abort(new Error("closed"));
  await expect(recognized).rejects.toThrow("closed");
  expect(events).toEqual(["asked", "nothing"]);
});
