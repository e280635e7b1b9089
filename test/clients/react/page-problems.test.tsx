// @vitest-environment happy-dom
import { act, screen } from "@testing-library/react";
import { DisconnectReason, Room, RoomEvent } from "livekit-client";
import { expect, test, vi } from "vitest";
import { JoinedTalkContext } from "../../../web/src/join/joined-talk.tsx";
import { Problems } from "../../../web/src/problems/problems.tsx";
import { openTalk } from "./open-talk.tsx";

const REMOVED = "You were removed from the room.";
const DUPLICATE = "Somebody has joined under the same name, perhaps you in another tab. Continue there, or here:";
const ENDED = "The connection has ended.";

test.each([
  ["DUPLICATE_IDENTITY", DUPLICATE],
  ["PARTICIPANT_REMOVED", REMOVED],
  ["ROOM_DELETED", REMOVED],
  ["SERVER_SHUTDOWN", ENDED],
  ["SIGNAL_CLOSE", ENDED],
  ["UNKNOWN_REASON", ENDED],
] as const)("a participant disconnected with %s sees the reason, and can join again", async (reason, sentence) => {
  const liveKit = new Room();
  const place = { room: "kitchen", identity: "ann", token: "token", livekitUrl: "ws://127.0.0.1", secret: "" };
  const joinAgain = vi.fn<() => void>();
  await openTalk(
    <JoinedTalkContext value={{ talk: { ...place, liveKit }, open: () => {} }}>
      <Problems onRejoin={joinAgain} />
    </JoinedTalkContext>,
  );

  act(() => void liveKit.emit(RoomEvent.Disconnected, DisconnectReason[reason]));

  expect(screen.getByText(sentence)).toBeDefined();
  screen.getByRole("button", { name: "Join again" }).click();
  expect(joinAgain).toHaveBeenCalledOnce();
});
