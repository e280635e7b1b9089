// @vitest-environment happy-dom
import { usePushToTalk } from "@parley/react";
import { act } from "@testing-library/react";
import { type ReactNode, useState } from "react";
import { expect, test } from "vitest";
import { openTalk } from "./open-talk.tsx";

let button: ReturnType<typeof usePushToTalk>;

let hide: () => void;

function Page(): ReactNode {
  const [isShown, setShown] = useState(true);
  hide = () => setShown(false);
  return isShown && <Button />;
}

function Button(): ReactNode {
  button = usePushToTalk();
  return null;
}

test("the agent is told when the button is pressed and released", async () => {
  const room = await openTalk(<Button />);
  expect(button.isTalking).toBe(false);

  await act(() => button.start());
  expect(button.isTalking).toBe(true);
  await act(() => button.end());

  expect(button.isTalking).toBe(false);
  expect(room.methods).toEqual(["start_turn", "end_turn"]);
});

test("a button that is released while the agent still answers is not pressed afterwards", async () => {
  const room = await openTalk(<Button />);

  await act(() => Promise.all([button.start(), button.end()]));

  expect(button.isTalking).toBe(false);
  expect(room.methods).toEqual(["start_turn", "end_turn"]);
});

test("a button whose turn is refused is not pressed", async () => {
  const room = await openTalk(<Button />);
  room.isBusy = true;

  await act(() => expect(button.start()).rejects.toThrow("Another participant is speaking"));

  expect(button.isTalking).toBe(false);
});

test("what has begun is canceled by the button and when the button disappears", async () => {
  const room = await openTalk(<Page />);
  await act(() => button.start());
  await act(() => button.cancel());
  await act(() => button.start());

  await act(async () => hide());

  expect(room.methods).toEqual(["start_turn", "cancel_turn", "start_turn", "cancel_turn"]);
});
