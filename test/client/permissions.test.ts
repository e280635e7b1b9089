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

test.each([
  ["approve", "approved"],
  ["reject", "expired"],
] as const)(
  "a permission request that is no longer open causes one event (%s, %s), and none for unknown requests",
  async (...row) => {
    const [response, state] = row;
    const { room, parley } = await openClient();
    const closed: unknown[] = [];
    parley.on("permission_closed", (event) => closed.push(event));

    room.say({ type: "permission_request", body: REQUEST });
    for (const permissionId of ["per_1", "per_1", "per_2"])
      room.say({ type: "permission_response", body: { permissionId, response, state } });

    expect(closed).toEqual([{ id: "per_1", state }]);
  },
);

test("a request is an event, and its answer is sent to the worker with its message and edits", async () => {
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
