// @vitest-environment happy-dom
import type { Message } from "@parley/client";
import { type ToolCall, ToolCallView, useClientTool, useTalk, useToolCalls, useToolUI } from "@parley/react";
import { act, screen } from "@testing-library/react";
import { type ReactNode, useState } from "react";
import { expect, test } from "vitest";
import { MemoryRoom } from "../../support/doubles/memory-transport.ts";
import { openTalk, say } from "./open-talk.tsx";

const anything = { type: "object" } as const;
let setShown: (isShown: boolean) => void;

function Offer({ run }: { readonly run: (input: object) => unknown }): ReactNode {
  useClientTool("echo", anything, { description: "Says it again.", readOnly: true, run });
  return null;
}

function Switched({ run }: { readonly run: (input: object) => unknown }): ReactNode {
  const [isShown, set] = useState(true);
  setShown = set;
  return isShown && <Offer run={run} />;
}

const announced = (room: MemoryRoom) =>
  room
    .all("configuration")
    .at(-1)
    ?.tools?.map(({ name }) => name);

test("a tool is announced while its component is mounted, and runs", async () => {
  const room = await openTalk(<Switched run={(input) => ({ got: input })} />);
  await act(() => room.until(() => announced(room)?.length === 1));

  room.request({ id: "c1", parameters: { text: "hi" } });

  expect(await room.result("c1")).toMatchObject({ success: true, result: { got: { text: "hi" } } });
  act(() => setShown(false));
  await room.until(() => announced(room)?.length === 0);
});

test("a tool registered before joining is announced on joining", async () => {
  const room = new MemoryRoom();
  room.disconnect();
  const opening = openTalk(<Offer run={() => ({})} />, { room });
  await act(async () => new Promise((resolve) => setTimeout(resolve, 10)));

  await act(async () => room.connect());
  await opening;

  expect(room.all("configuration")[0]?.tools).toMatchObject([{ name: "echo", annotations: { readOnlyHint: true } }]);
});

function Tool({ name, timeoutMs }: { readonly name: string; readonly timeoutMs: number }): ReactNode {
  useClientTool(name, anything, { description: "Says it again.", timeoutMs, run: () => 1 });
  return null;
}

test.each(["before", "after"])(
  "an invalid tool that is offered %s the join is reported, and the others keep working",
  async (when) => {
    const [first, second] = [<Tool key="a" name="a" timeoutMs={5} />, <Tool key="b" name="b" timeoutMs={5} />];
    const tools = [first, <Tool key="bad" name="bad" timeoutMs={-1} />, second];
    const Tools = (): ReactNode => {
      const { problem, isConnected } = useTalk();
      return (
        <>
          {(when === "before" || isConnected) && tools}
          <p>{problem}</p>
        </>
      );
    };
    const room = await openTalk(<Tools />);

    await act(() => room.until(() => announced(room)?.length === 2));

    expect(announced(room)).toEqual(["a", "b"]);
    expect(
      screen.getByText('Tool "bad" is not offered: Tool "bad": timeoutMs: expected a positive integer'),
    ).toBeDefined();
    room.request({ id: "c1", toolName: "b" });
    expect(await room.result("c1")).toMatchObject({ success: true });
  },
);

function Misspelt(): ReactNode {
  useClientTool("echo", anything, { description: "Says it again.", timeout: 5, run: () => 1 } as never);
  return null;
}

test("a misspelt field of a tool is refused", async () => {
  await expect(openTalk(<Misspelt />)).rejects.toThrow(
    'useClientTool: "timeout" is not a field of a tool. Its fields are description, timeoutMs,',
  );
});

function Calls(): ReactNode {
  const calls = useToolCalls();
  useToolUI("add", Sum);
  return calls.map(({ toolUseId }) => <ToolCallView key={toolUseId} toolUseId={toolUseId} fallback={Plain} />);
}
const Sum = ({ call }: { readonly call: ToolCall }) => (
  <p>{`sum ${call.status} ${call.inputJson} ${call.output ?? ""}`}</p>
);
const Plain = ({ call }: { readonly call: ToolCall }) => <p>{`${call.name} ${call.status}`}</p>;

const Extra = ({ call }: { readonly call: ToolCall }) => <p>{JSON.stringify(call.extraAnswers)}</p>;

function Extras(): ReactNode {
  return useToolCalls().map((call) => <Extra key={call.toolUseId} call={call} />);
}

test("a late answer is shown with its call", async () => {
  const room = await openTalk(<Extras />);
  const late = [{ kind: "late", from: "bob", success: true }];
  const metadata = { messageId: "a1", toolUseId: "t1", revision: 3, execution: "client", extraAnswers: late };

  await say(room, stateOf("success", 3), stateOf("success", 3, { metadataJson: JSON.stringify(metadata) }));

  expect(screen.getByText(JSON.stringify(late))).toBeDefined();
});

function CancelFirst(): ReactNode {
  const { cancelCall } = useTalk();
  const [call] = useToolCalls();
  return <button onClick={() => void cancelCall(call?.id ?? "")}>Cancel</button>;
}

test("a call is cancelled by its id", async () => {
  const room = await openTalk(<CancelFirst />);
  await say(room, stateOf("running", 2));

  act(() => screen.getByText("Cancel").click());
  await room.until(() => room.all("control_stop").length === 1);

  expect(room.all("control_stop")).toEqual([{ targetId: "c1" }]);
});

const stateOf = (status: "pending" | "running" | "success", revision: number, more: object = {}): Message => ({
  type: "tool_call_state",
  body: {
    id: "c1",
    name: "add",
    status,
    inputJson: '{"a":1}',
    logs: [],
    metadataJson: JSON.stringify({ messageId: "a1", toolUseId: "t1", revision, execution: "server" }),
    ...more,
  },
});

test("a call is shown from its first argument to its result, by the component of its tool", async () => {
  const room = await openTalk(<Calls />);
  const begun = {
    event: "block_start",
    turnId: "a1",
    sequence: 0,
    type: "tool_use",
    toolUseId: "t1",
    toolName: "add",
  } as const;
  const written = {
    event: "block_delta",
    turnId: "a1",
    sequence: 0,
    delta: { type: "input_json", partialJson: '{"a"' },
  } as const;

  await say(room, { type: "block_event", body: begun }, { type: "block_event", body: written });
  expect(screen.getByText('sum writing {"a"')).toBeDefined();

  await say(room, stateOf("pending", 1), stateOf("running", 2));
  expect(screen.getByText('sum running {"a":1}')).toBeDefined();

  await say(room, stateOf("success", 3, { output: "1" }));
  expect(screen.getByText('sum success {"a":1} 1')).toBeDefined();
});

test("an older state of a call does not replace a newer one", async () => {
  const room = await openTalk(<Calls />);

  await say(room, stateOf("success", 3, { output: "1" }), stateOf("running", 2));

  expect(screen.getByText('sum success {"a":1} 1')).toBeDefined();
});

test("tools without a component of their own are shown by the fallback", async () => {
  const room = await openTalk(<Calls />);

  await say(room, stateOf("running", 1, { name: "other" }));

  expect(screen.getByText("other running")).toBeDefined();
});
