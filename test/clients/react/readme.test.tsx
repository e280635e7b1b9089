// @vitest-environment happy-dom
import type { Message } from "@parley/client";
import { act, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import readme from "../../../clients/react/README.md?raw";
import { mayWrite, openTalk, say } from "./open-talk.tsx";
import { Agent, Calls, Forms, Questions, Spent } from "./readme-example.tsx";
import { answerFetch, HTTP } from "./worker-http.ts";

const TEXTS = import.meta.glob<string>("./readme-example.tsx", { query: "?raw", import: "default", eager: true });

const call = (id: string, name: string, more: object = {}): Message => ({
  type: "tool_call_state",
  body: {
    id,
    name,
    status: "running",
    inputJson: "{}",
    logs: [],
    metadataJson: JSON.stringify({ messageId: "a1", toolUseId: id, revision: 1, execution: "server" }),
    ...more,
  },
});
const question = mayWrite({});
const ended: Message = { type: "block_event", body: { event: "turn_complete", turnId: "a1", state: "completed" } };
const models = [{ inputTokens: 40, outputTokens: 2 }];

test("the README's example is the one below, and each of its hooks does what the README says", async () => {
  answerFetch({ "/session": { id: "s1" }, "/session/s1/usage": { models, budgets: [] } });
  const all = (
    <>
      <Agent />
      <Calls />
      <Questions />
      <Forms />
      <Spent />
    </>
  );
  const room = await openTalk(all, { http: HTTP });
  expect(await screen.findByText("The agent: listening")).toBeDefined();

  await say(room, call("t1", "get_weather", { status: "success", output: "sun" }), call("t2", "scan"), question);
  expect(screen.getByText("The weather: sun")).toBeDefined();
  expect(screen.getByText("scan: running")).toBeDefined();
  await act(async () => screen.getByText("Refuse").click());
  expect(room.all("permission_response")).toMatchObject([{ response: "reject", message: "Not today" }]);

  await act(async () =>
    room.request({
      id: "f1",
      toolName: "ask_user",
      parameters: { message: "Why?", requestedSchema: { properties: {} } },
    }),
  );
  await act(async () => (await screen.findByText("Decline")).click());
  expect(await room.result("f1")).toMatchObject({ result: { action: "decline" } });

  await say(room, ended);
  expect(await screen.findByText("42 tokens")).toBeDefined();
  expect(readme).toContain(Object.values(TEXTS)[0]);
});
