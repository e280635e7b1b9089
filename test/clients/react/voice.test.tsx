// @vitest-environment happy-dom
import { ParleyProvider, useAgent, useTalk, useVoice } from "@parley/react";
import { act, cleanup, render, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, onTestFinished, test } from "vitest";
import { MemoryRoom } from "../../support/doubles/memory-transport.ts";
import { openTalk, say } from "./open-talk.tsx";

let voice: ReturnType<typeof useVoice>;
let talk: ReturnType<typeof useTalk>;
let agent: ReturnType<typeof useAgent>;

function Voice(): ReactNode {
  voice = useVoice();
  talk = useTalk();
  agent = useAgent();
  return null;
}

test("whether the worker listens and speaks is unknown until its Configuration arrives", async () => {
  const room = await openTalk(<Voice />);
  expect(voice).toMatchObject({ listens: undefined, speaks: undefined });

  await say(room, { type: "configuration", body: { listens: false, speaks: true } });

  expect(voice).toMatchObject({ listens: false, speaks: true });
});

test("a page knows whether its participants say when a turn begins and ends", async () => {
  const room = await openTalk(<Voice />);
  expect(voice.hasManualTurns).toBe(false);

  await say(room, { type: "configuration", body: { listens: true, turns: "manual" } });

  expect(voice.hasManualTurns).toBe(true);
});

test("the agent's name, suggestions and tools are known once its Configuration arrives", async () => {
  const room = await openTalk(<Voice />);
  expect(agent).toEqual({ name: undefined, description: undefined, suggestions: [], tools: [] });
  const tool = (name: string, annotations?: Readonly<Record<string, string>>) => ({
    name,
    description: "Finds.",
    inputSchema: {},
    ...(annotations && { annotations }),
  });
  const tools = [tool("find"), tool("shop_find", { mcpServer: "shop" })];

  await say(room, { type: "configuration", body: { agent: { name: "Ava", suggestions: ["Find it"] }, tools } });

  expect(agent).toEqual({
    name: "Ava",
    description: undefined,
    suggestions: ["Find it"],
    tools: [
      { name: "find", description: "Finds." },
      { name: "shop_find", description: "Finds.", mcpServer: "shop" },
    ],
  });
});

test("a page that stops listening tells the worker so", async () => {
  const room = await openTalk(<Voice />);

  await act(async () => voice.listen(false));

  await expect.poll(() => room.all("configuration").at(-1)?.listens).toBe(false);
});

test("a page that plays no sound says so in its first Configuration", async () => {
  const room = await openTalk(<Voice />, { listens: false });

  expect(room.all("configuration").map(({ listens }) => listens)).toEqual([false]);
});

test("why the client cannot be opened is shown as a problem", async () => {
  render(
    <ParleyProvider room={new MemoryRoom().transport} features={["permission"]}>
      <Voice />
    </ParleyProvider>,
  );
  onTestFinished(cleanup);

  await waitFor(() => expect(talk.problem).toBe('"permission" is not a feature. Did you mean "permissions"?'));
});

test("stop ends the whole answer, or only its sound", async () => {
  const room = await openTalk(<Voice />);

  await act(async () => talk.stop("speech"));
  await act(async () => talk.stop());

  await expect.poll(() => room.all("control_stop")).toEqual([{ stopType: "speech" }, {}]);
});
