// @vitest-environment happy-dom
import { useTalk } from "@parley/react";
import { memo, Profiler, type ReactNode } from "react";
import { expect, test } from "vitest";
import { MessageView } from "../../../web/src/talk/message/message-view.tsx";
import { act, fireEvent, screen } from "@testing-library/react";
import { openTalk, say } from "./open-talk.tsx";

interface ListProps {
  readonly onRender: (id: string) => void;
}

/** Renders messages as the page's own list does. */
function Messages({ onRender }: ListProps): ReactNode {
  const { messages, edit, regenerate } = useTalk();
  return messages.map(({ id }) => <Line key={id} id={id} edit={edit} regenerate={regenerate} onRender={onRender} />);
}

const Line = memo(function Line({ onRender, ...props }: ListProps & Parameters<typeof MessageView>[0]) {
  return (
    <Profiler id={props.id} onRender={onRender}>
      <MessageView {...props} />
    </Profiler>
  );
});

const turn = (count: number) =>
  [
    { type: "transcription", body: { id: `m${count}`, text: "And now?", final: true } },
    { type: "start_answer", body: { id: `a${count}`, previousId: `m${count}`, answerType: "text" } },
    { type: "block_event", body: { event: "block_start", turnId: `a${count}`, sequence: 0, type: "text" } },
  ] as const;
const delta = (turnId: string) =>
  ({ type: "block_event", body: { event: "block_delta", turnId, sequence: 0, text: "word " } }) as const;

test("among a thousand messages, a new message and its words rerender none of the others", async () => {
  const rendered = new Map<string, number>();
  const room = await openTalk(<Messages onRender={(id) => rendered.set(id, (rendered.get(id) ?? 0) + 1)} />);
  await say(room, ...Array.from({ length: 500 }, (_, count) => turn(count)).flat());
  const before = new Map(rendered);
  expect(before.size).toBe(1_000);

  await say(room, ...turn(500));
  for (let count = 0; count < 20; count++) await say(room, delta("a500"));

  expect([...before].filter(([id, count]) => rendered.get(id) !== count)).toEqual([]);
  expect(rendered.get("a500")).toBeGreaterThan(20);
});

test("an edit that does not reach the worker is reported at its message", async () => {
  let send: (text: string) => string = () => "";
  function Talk(): ReactNode {
    const { messages, edit, regenerate, ...talk } = useTalk();
    send = (text) => talk.send(text);
    return messages.map(({ id }) => <MessageView key={id} id={id} edit={edit} regenerate={regenerate} />);
  }
  const room = await openTalk(<Talk />);
  let id = "";
  await act(async () => void (id = send("Two and two?")));
  await say(room, { type: "start_answer", body: { id: "a1", previousId: id, answerType: "text" } });

  fireEvent.click(screen.getByRole("button", { name: "Edit" }));
  fireEvent.change(screen.getByRole("textbox"), { target: { value: "x".repeat(5_000_000) } });
  await act(async () => void fireEvent.click(screen.getByRole("button", { name: "Send again" })));

  expect(screen.getByText("Failed: A string is over 1048576 bytes")).toBeDefined();
});

test("only an answer to a message can be regenerated, and a greeting answers none", async () => {
  const room = await openTalk(<Messages onRender={() => {}} />);
  const ended = (turnId: string) =>
    ({ type: "block_event", body: { event: "turn_complete", turnId, state: "completed" } }) as const;

  await say(room, { type: "start_answer", body: { id: "a1", previousId: "a1", answerType: "text" } }, ended("a1"));
  expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();

  await say(room, ...turn(2), ended("a2"));
  expect(screen.getAllByRole("button", { name: "Try again" })).toHaveLength(1);
});
