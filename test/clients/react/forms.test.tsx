// @vitest-environment happy-dom
import { useForms } from "@parley/react";
import { act, screen } from "@testing-library/react";
import { type ReactNode, useState } from "react";
import { expect, test } from "vitest";
import { openTalk } from "./open-talk.tsx";

let setShown: (isShown: boolean) => void;

function Forms(): ReactNode {
  return useForms().map(({ id, message, fields, answer }) => (
    <p key={id}>
      {message}
      {fields.map(({ name, label }) => (
        <button key={name} onClick={() => answer({ action: "accept", content: { [name]: "Ana" } })}>
          {label}
        </button>
      ))}
    </p>
  ));
}

function Switched(): ReactNode {
  const [isShown, set] = useState(true);
  setShown = set;
  return isShown && <Forms />;
}

const requestedSchema = { type: "object", properties: { name: { type: "string", title: "Your name" } } };
const request = { id: "f1", toolName: "ask_user", parameters: { message: "Who are you?", requestedSchema } };

test("a form is shown until it is answered, and its content is the result", async () => {
  const room = await openTalk(<Switched />);
  await act(async () => room.request(request));
  await screen.findByText("Who are you?");

  act(() => screen.getByText("Your name").click());

  expect(await room.result("f1")).toMatchObject({
    success: true,
    result: { action: "accept", content: { name: "Ana" } },
  });
  expect(screen.queryByText("Who are you?")).toBeNull();
});

test("once nothing renders forms any more, open ones are cancelled and forms are no longer offered", async () => {
  const room = await openTalk(<Switched />);
  await act(async () => room.request(request));
  await screen.findByText("Who are you?");

  act(() => setShown(false));

  expect(await room.result("f1")).toMatchObject({ success: true, result: { action: "cancel" } });
  await room.until(() => room.all("configuration").at(-1)?.tools?.length === 0);
});
