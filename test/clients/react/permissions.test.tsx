// @vitest-environment happy-dom
import { ParleyProvider, useAgentState, usePermissions } from "@parley/react";
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, onTestFinished, test } from "vitest";
import { MemoryRoom } from "../../support/doubles/memory-transport.ts";
import { mayWrite, openTalk, say } from "./open-talk.tsx";
import { answerFetch, HTTP } from "./worker-http.ts";

let permissions: ReturnType<typeof usePermissions>;

function Questions(): ReactNode {
  permissions = usePermissions();
  const { state, reason } = useAgentState({ noAgentMs: 20 });
  return (
    <>
      <p>{`agent: ${state} ${reason ?? ""}`.trim()}</p>
      {permissions.open.map(({ id, title, problem }) => (
        <p key={id}>{`${title}${problem === undefined ? "" : `: ${problem}`}`}</p>
      ))}
    </>
  );
}

const asked = mayWrite({ toolName: "write", input: { path: "a.md" }, allowEditedInput: true, leftMs: 60_000 });

test("a question is shown until it is answered, here or elsewhere", async () => {
  const room = await openTalk(<Questions />);

  await say(room, asked);

  expect(screen.getByText("Write a.md")).toBeDefined();
  expect(screen.getByText("agent: waiting_for_permission")).toBeDefined();
  expect(permissions.open).toMatchObject([
    { toolName: "write", input: { path: "a.md" }, allowsEditedInput: true, patterns: ["a.md"] },
  ]);
  await say(room, {
    type: "permission_response",
    body: { permissionId: "p1", response: "approve", state: "approved" },
  });
  expect(permissions.open).toEqual([]);
});

test("answers are sent to the worker with the edits, and with the reason for a refusal", async () => {
  const room = await openTalk(<Questions />);
  await say(room, asked);

  await act(() => permissions.approve("p1", "always", { editedInput: { path: "b.md" } }));
  await act(() => permissions.reject("p1", { message: "Not now" }));

  expect(room.all("permission_response")).toMatchObject([
    { permissionId: "p1", response: "always", editedInputJson: '{"path":"b.md"}' },
    { permissionId: "p1", response: "reject", message: "Not now" },
  ]);
});

test("an answer that does not count rejects", async () => {
  const room = await openTalk(<Questions />);
  await say(room, asked);
  room.acknowledges = false;

  const answered = permissions.approve("p1");
  answered.catch(() => {});
  await room.until(() => room.all("permission_response").length === 1);
  const body = { code: 202, message: "It has expired", severity: 2, recoverable: true, originatingId: "p1" } as const;
  await say(room, { type: "error_message", body });

  await expect(answered).rejects.toThrow("It has expired");
});

test("refused edits leave the question open, with the reason", async () => {
  const room = await openTalk(<Questions />);
  await say(room, asked);

  const body = {
    code: 101,
    message: "path: expected a text",
    severity: 2,
    recoverable: true,
    originatingId: "p1",
  } as const;
  await say(room, { type: "error_message", body });

  expect(screen.getByText("Write a.md: path: expected a text")).toBeDefined();
});

test("more time is requested over the provider's http, and the worker's refusal is shown", async () => {
  const path = "/session/s1/permissions/p1/extend";
  const requests = answerFetch({
    [path]: { error: "The permission request has ended or cannot be extended any further" },
  });
  const room = await openTalk(<Questions />, { http: HTTP });
  await say(room, asked);

  await expect(permissions.extend("p1")).rejects.toThrow(
    "The permission request has ended or cannot be extended any further",
  );
  await expect(permissions.extend("p2")).rejects.toThrow("Cannot extend: the permission request is closed");

  expect(requests).toEqual([`POST ${path} Bearer token`]);
});

test("a participant who joins again sees the open questions, and none that were answered meanwhile", async () => {
  onTestFinished(cleanup);
  const pageIn = ({ transport }: MemoryRoom) => (
    <ParleyProvider room={transport}>
      <Questions />
    </ParleyProvider>
  );
  const known = (room: MemoryRoom) => waitFor(() => expect(room.all("configuration")).not.toEqual([]));
  const [before, after] = [new MemoryRoom(), new MemoryRoom()];
  const { rerender } = render(pageIn(before));
  await known(before);
  await say(before, asked);
  expect(permissions.open).toHaveLength(1);

  rerender(pageIn(after));
  await known(after);
  expect(permissions.open).toEqual([]);

  // The worker's stanza numbers continue in the second room.
  await act(async () => void after.say(asked, { stanzaId: -20 }));
  await act(async () => void after.say({ type: "configuration", body: {} }, { stanzaId: -21 }));
  expect(permissions.open).toHaveLength(1);
});

test("an agent that leaves and does not come back is reported as missing", async () => {
  const room = await openTalk(<Questions />);
  expect(await screen.findByText("agent: listening")).toBeDefined();

  act(() => room.leave());
  expect(screen.getByText("agent: connecting")).toBeDefined();

  expect(await screen.findByText("agent: failed no_agent")).toBeDefined();
});
