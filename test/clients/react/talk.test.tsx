// @vitest-environment happy-dom
import { textOf, useMessage, useTalk } from "@parley/react";
import { act, cleanup, screen, waitFor } from "@testing-library/react";
import { memo, type ReactNode } from "react";
import { expect, test } from "vitest";
import type { MessageBody } from "../../../src/protocol/messages/messages.ts";
import { openTalk, say } from "./open-talk.tsx";

let talk: ReturnType<typeof useTalk>;

function Talk({ onRender = () => {} }: { readonly onRender?: (id: string) => void }): ReactNode {
  talk = useTalk();
  return (
    <ol>
      {talk.messages.map(({ id }) => (
        <Line key={id} id={id} onRender={onRender} />
      ))}
    </ol>
  );
}

const Line = memo(function Line({ id, onRender }: { readonly id: string; readonly onRender: (id: string) => void }) {
  const message = useMessage(id);
  onRender(id);
  return message && <li data-state={message.state}>{`${message.role}: ${textOf(message)}`}</li>;
});

const lines = () => screen.queryAllByRole("listitem").map(({ textContent }) => textContent);
const states = () => screen.queryAllByRole("listitem").map(({ dataset }) => dataset["state"]);
const start = (id: string, previousId: string, more: { replacesId?: string } = {}) =>
  ({ type: "start_answer", body: { id, previousId, answerType: "text", ...more } }) as const;
const block = (body: Omit<MessageBody<"block_event">, "turnId">, turnId = "a1") =>
  ({ type: "block_event", body: { turnId, ...body } }) as const;
const openText = block({ event: "block_start", sequence: 0, type: "text" });
const delta = (text: string) => block({ event: "block_delta", sequence: 0, text });

test("an answer grows with its deltas and ends with its turn", async () => {
  const room = await openTalk(<Talk />);
  let id = "";
  await act(async () => void (id = talk.send("Hello")));

  await say(room, start("a1", id), openText, delta("Good "), delta("day."));

  expect(lines()).toEqual(["user: Hello", "assistant: Good day."]);
  expect(states()).toEqual(["sent", "open"]);
  await say(room, block({ event: "turn_complete", state: "completed", stopReason: "end_turn" }));
  expect(states()).toEqual(["sent", "completed"]);
});

test.each(["completed", "interrupted", "cancelled"] as const)(
  "a spoken answer is open until its speech has ended as %s",
  async (state) => {
    const room = await openTalk(<Talk />);
    const begin = { type: "start_answer", body: { id: "a1", previousId: "m1", answerType: "text+voice" } } as const;
    await say(room, begin, openText, delta("Good day."), block({ event: "turn_complete", state: "completed" }));
    expect(states()).toEqual(["open"]);

    await say(room, block({ event: "turn_spoken", state }));

    expect(states()).toEqual([state]);
  },
);

test("a spoken answer from an older worker, whose turns end with their speech, ends with its last sentence", async () => {
  const room = await openTalk(<Talk />);
  const begin = { type: "start_answer", body: { id: "a1", previousId: "m1", answerType: "text+voice" } } as const;
  const last = {
    type: "assistant_sentence",
    body: { previousId: "a1", sequence: 1, text: "", isFinal: true },
  } as const;

  await say(room, begin, openText, delta("Good day."), last);
  await say(room, block({ event: "turn_complete", state: "interrupted" }));

  expect(states()).toEqual(["interrupted"]);
});

test("a thousand deltas rerender the open message, and nothing else", async () => {
  const rendered = new Map<string, number>();
  const room = await openTalk(<Talk onRender={(id) => rendered.set(id, (rendered.get(id) ?? 0) + 1)} />);
  await say(
    room,
    start("a0", "m0"),
    block({ event: "turn_complete", state: "completed" }, "a0"),
    start("a1", "m1"),
    openText,
  );
  const before = new Map(rendered);
  const list = talk;

  for (let count = 0; count < 1_000; count++) await say(room, delta("x"));

  expect(rendered.get("a0")).toBe(before.get("a0"));
  expect(rendered.get("a1")).toBeGreaterThan(1_000);
  expect(talk).toBe(list);
  expect(lines().at(-1)).toBe(`assistant: ${"x".repeat(1_000)}`);
});

test("the worker's own words are shown along with the model's, and each of the model's sentences appears once", async () => {
  const room = await openTalk(<Talk />);
  const sentence = (sequence: number, text: string) =>
    ({ type: "assistant_sentence", body: { previousId: "a1", sequence, text, isFinal: false } }) as const;

  await say(room, start("a1", "m1"), openText, delta("One.\nTwo."), sentence(1, "One."), sentence(2, "Two."));
  await say(room, sentence(3, "One moment, please."));

  expect(lines()).toEqual(["assistant: One.\nTwo. One moment, please."]);
});

test("a sentence that arrives before the text it comes from is shown once", async () => {
  const room = await openTalk(<Talk />);
  const body = { previousId: "a1", sequence: 1, text: "All is well.", isFinal: false } as const;

  await say(
    room,
    start("a1", "m1"),
    openText,
    delta("All is"),
    { type: "assistant_sentence", body },
    delta(" well. And"),
  );

  expect(lines()).toEqual(["assistant: All is well. And"]);
});

test("a worker's error for a message marks that message as failed, with the reason", async () => {
  const room = await openTalk(<Talk />);
  let id = "";
  await act(async () => void (id = talk.send("Hello")));

  await say(room, {
    type: "error_message",
    body: { code: 503, message: "The model is away", severity: 2, recoverable: true, originatingId: id },
  });

  expect(states()).toEqual(["failed"]);
  expect(talk.problem).toBeUndefined();
});

test("recognized speech from a participant becomes that participant's message", async () => {
  const room = await openTalk(<Talk />);
  const heard = (text: string, final: boolean) => ({ type: "transcription", body: { id: "u1", text, final } }) as const;

  await say(room, heard("Read", false), heard("Read my notes", true));

  expect(lines()).toEqual(["user: Read my notes"]);
  expect(states()).toEqual(["sent"]);
});

test("recognized speech that the worker drops is removed", async () => {
  const room = await openTalk(<Talk />);
  const heard = (id: string, text: string) => ({ type: "transcription", body: { id, text, final: false } }) as const;

  await say(room, heard("u1", "Read"), heard("u1", ""), heard("u2", ""));

  expect(talk.messages).toEqual([]);
});

test("another participant's words are shown as that participant's message", async () => {
  const room = await openTalk(<Talk />);

  await say(room, {
    type: "transcription",
    body: { id: "u1", text: "Read my notes", final: true, participant: "ben" },
  });

  expect(talk.messages).toEqual([{ id: "u1", role: "user", from: "ben" }]);
});

test("an edited message is answered again, and what followed it is removed", async () => {
  const room = await openTalk(<Talk />);
  let id = "";
  await act(async () => void (id = talk.send("Two and two?")));
  await say(room, start("a1", id), openText, delta("Four."), block({ event: "turn_complete", state: "completed" }));

  await act(() => talk.edit(id, "Two and three?"));
  await say(room, start("a2", id, { replacesId: "a1" }));

  expect(room.all("control_variation")).toMatchObject([{ targetId: id, mode: "edit", newContent: "Two and three?" }]);
  expect(lines()).toEqual(["user: Two and three?", "assistant: "]);
});

test("an answer that somebody else has regenerated is removed, with what followed it", async () => {
  const room = await openTalk(<Talk />);
  let id = "";
  await act(async () => void (id = talk.send("Two and two?")));
  await say(room, start("a1", "of-ben"), openText, delta("Four."), start("a2", id), start("a3", "of-ben"));
  expect(talk.messages.map((message) => message.id)).toEqual([id, "a1", "a2", "a3"]);

  await say(room, start("a4", "of-ben", { replacesId: "a2" }), start("a4", "of-ben", { replacesId: "a2" }));

  expect(talk.messages.map((message) => message.id)).toEqual([id, "a1", "a4"]);
});

test("one client is created in StrictMode, and closed when the tree unmounts", async () => {
  const room = await openTalk(<Talk />);
  expect(room.all("configuration")).toHaveLength(1);
  expect(talk.isConnected).toBe(true);

  cleanup();

  await waitFor(() => expect(room.listenerCount).toBe(0));
});
