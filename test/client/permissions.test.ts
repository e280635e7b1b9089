import { expect, test } from "vitest";
import { openClient } from "./open-client.ts";

const REQUEST = {
  id: "per_1",
  type: "edit",
  pattern: ["notes/a.md"],
  sessionId: "session",
  messageId: "answer",
  callId: "call",
  title: "Write notes/a.md",
  metadataJson: "{}",
  createdAt: 1,
};

test("a request is an event, and its answer goes to the worker with what was said and changed", async () => {
  const { room, parley } = await openClient();
  const asked: unknown[] = [];
  parley.on("permission_request", (request) => asked.push(request));

  room.say({ type: "permission_request", body: REQUEST });
  await parley.respondToPermission("per_1", "approve", { editedInput: { path: "b" } });
  await parley.respondToPermission("per_2", "reject", { message: "No" });
  await parley.respondToPermission("per_3", "always");

  expect(asked).toEqual([REQUEST]);
  expect(room.all("permission_response")).toEqual([
    { permissionId: "per_1", response: "approve", editedInputJson: '{"path":"b"}' },
    { permissionId: "per_2", response: "reject", message: "No" },
    { permissionId: "per_3", response: "always" },
  ]);
});
