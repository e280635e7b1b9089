import type { Message } from "@parley/client";
import { ParleyProvider } from "@parley/react";
import { act, cleanup, render, waitFor } from "@testing-library/react";
import { type ComponentProps, type ReactNode, StrictMode } from "react";
import { onTestFinished } from "vitest";
import { MemoryRoom } from "../../support/doubles/memory-transport.ts";

type OpenOptions = Pick<ComponentProps<typeof ParleyProvider>, "http" | "listens"> & { readonly room?: MemoryRoom };

/**
 * Renders a tree below a provider with a room in memory, in StrictMode as in development. Resolves once the worker has
 * received the Configuration.
 */
export async function openTalk(
  tree: ReactNode,
  { room = new MemoryRoom(), ...access }: OpenOptions = {},
): Promise<MemoryRoom> {
  onTestFinished(cleanup);
  render(
    <StrictMode>
      <ParleyProvider room={room.transport} {...access}>
        {tree}
      </ParleyProvider>
    </StrictMode>,
  );
  await waitFor(() => {
    if (room.all("configuration").length === 0) throw new Error("The worker has heard nothing");
  });
  return room;
}

/** Sends messages from the worker, and waits until React has rendered them. */
export async function say(room: MemoryRoom, ...messages: readonly Parameters<MemoryRoom["say"]>[0][]): Promise<void> {
  await act(async () => {
    for (const message of messages) room.say(message);
  });
}

/** The worker's request for permission to write "a.md". */
export function mayWrite(metadata: object): Message {
  return {
    type: "permission_request",
    body: {
      id: "p1",
      type: "edit",
      pattern: ["a.md"],
      sessionId: "s1",
      messageId: "a1",
      title: "Write a.md",
      metadataJson: JSON.stringify(metadata),
      createdAt: 1,
    },
  };
}
