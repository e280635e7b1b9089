// @vitest-environment happy-dom
import { SessionProvider, useRoomContext, type UseSessionReturn } from "@livekit/components-react";
import { ParleyProvider, textOf, useMessage, useTalk } from "@parley/react";
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import { type ReactNode, StrictMode } from "react";
import { expect, onTestFinished, test } from "vitest";
import { MemoryRoom } from "../../support/doubles/memory-transport.ts";
import { say } from "./open-talk.tsx";

/** The component from the README. */
function Talk({ children }: { readonly children: ReactNode }): ReactNode {
  return <ParleyProvider room={useRoomContext()}>{children}</ParleyProvider>;
}

function Messages(): ReactNode {
  const { messages } = useTalk();
  return messages.map(({ id }) => <Words key={id} id={id} />);
}

function Words({ id }: { readonly id: string }): ReactNode {
  const message = useMessage(id);
  return <p>{message && textOf(message)}</p>;
}

test("the client uses the room from the LiveKit SessionProvider above it", async () => {
  onTestFinished(cleanup);
  const room = new MemoryRoom();
  const session = { room: room.transport } as unknown as UseSessionReturn;
  render(
    <StrictMode>
      <SessionProvider session={session}>
        <Talk>
          <Messages />
        </Talk>
      </SessionProvider>
    </StrictMode>,
  );
  await waitFor(() => expect(room.all("configuration")).not.toEqual([]));

  const sentence = { id: "s1", previousId: "a1", sequence: 1, text: "Here I am.", isFinal: true };
  await say(
    room,
    { type: "start_answer", body: { id: "a1", previousId: "m1", answerType: "text" } },
    { type: "assistant_sentence", body: sentence },
  );

  expect(await screen.findByText("Here I am.")).toBeDefined();
});
