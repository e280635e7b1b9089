import { initializeLogger, runWithJobContextAsync, voice, type JobContext } from "@livekit/agents";
import { Room } from "@livekit/rtc-node";
import { beforeAll, expect, test } from "vitest";
import { forgetWhatWasSaid, startInRoom } from "../../src/livekit/agent-session.ts";

beforeAll(() => initializeLogger({ pretty: false, level: "silent" }));

async function start() {
  const agent = new voice.Agent({ instructions: "" });
  const session = new voice.AgentSession({ vad: null, turnHandling: { turnDetection: null } });
  const heard: unknown[] = [];
  const words = { captureText: async (text: unknown) => void heard.push(text), flush: () => {} };
  const options = { session, agent, room: new Room(), hasEars: false, hasMouth: false, words };
  return { agent, session, heard, io: await startInRoom(options) };
}

test("a session in a room tells our sink its words, and the room no state", async () => {
  const { session, io, heard } = await start();

  await io["agentTranscriptOutput"]?.captureText("Hello.");

  expect(heard).toEqual(["Hello."]);
  expect(io["onAgentStateChanged"]).toBeTypeOf("function");
  expect(session.listeners(voice.AgentSessionEventTypes.AgentStateChanged)).not.toContain(io["onAgentStateChanged"]);
  await io.close();
  await session.close();
});

test("RoomIO looks for the agent when it starts, and tells the room its state, when they are left alone", async () => {
  const session = new voice.AgentSession({ vad: null, turnHandling: { turnDetection: null } });
  const create = () => new voice.RoomIO({ agentSession: session, room: new Room() });
  expect(() => create().start()).toThrow("not running");
  const io = create();

  session["agent"] = new voice.Agent({ instructions: "" });
  io.start();

  expect(session.listeners(voice.AgentSessionEventTypes.AgentStateChanged)).toContain(io["onAgentStateChanged"]);
  await io.close();
});

test("a job does not take our session for its own, as it does any other", async () => {
  const job = { job: {}, simulationContext: () => undefined } as unknown as JobContext;
  const { session, io } = await runWithJobContextAsync(job, start);
  expect(job._primaryAgentSession).toBeUndefined();
  const other = new voice.AgentSession({ vad: null, turnHandling: { turnDetection: null } });
  const agent = new voice.Agent({ instructions: "" });

  await runWithJobContextAsync(job, () => other.start({ agent, record: false }));

  expect(job._primaryAgentSession).toBe(other);
  await io.close();
  await Promise.all([session.close(), other.close()]);
});

test("what was said is forgotten, but for one item that is the least", async () => {
  const { session, agent, io } = await start();
  for (const content of ["One.", "Two.", "Three."]) session.history.addMessage({ role: "assistant", content });
  await agent.updateChatCtx(session.history);

  forgetWhatWasSaid(session);

  expect([session.history.items.length, session.history.truncate(0).items.length]).toEqual([1, 1]);
  await expect.poll(() => agent.chatCtx.items).toEqual([expect.objectContaining({ role: "system" })]);
  await io.close();
  await session.close();
});
