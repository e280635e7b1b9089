import { initializeLogger, runWithJobContextAsync, voice, type JobContext } from "@livekit/agents";
import { AudioFrame, AudioSource, LocalAudioTrack, Room } from "@livekit/rtc-node";
import { beforeAll, expect, test } from "vitest";
import { clearChatHistory, startInRoom } from "../../src/livekit/agent-session.ts";

beforeAll(() => initializeLogger({ pretty: false, level: "silent" }));

async function start({ isListening = false } = {}) {
  const agent = new voice.Agent({ instructions: "" });
  const session = new voice.AgentSession({ vad: null, turnHandling: { turnDetection: null } });
  const listen: Parameters<typeof startInRoom>[0]["listen"] = isListening ? (_track, live) => live : undefined;
  const options = { session, agent, room: new Room(), listen, canSpeak: false };
  return { agent, session, io: await startInRoom(options) };
}

test("a session in a room does not publish its state to the room", async () => {
  const { session, io } = await start();

  expect(io["onAgentStateChanged"]).toBeTypeOf("function");
  expect(session.listeners(voice.AgentSessionEventTypes.AgentStateChanged)).not.toContain(io["onAgentStateChanged"]);
  await io.close();
  await session.close();
});

test("without our changes, RoomIO looks for the agent when it starts, and publishes its state", async () => {
  const session = new voice.AgentSession({ vad: null, turnHandling: { turnDetection: null } });
  const create = () => new voice.RoomIO({ agentSession: session, room: new Room() });
  expect(() => create().start()).toThrow("not running");
  const io = create();

  session["agent"] = new voice.Agent({ instructions: "" });
  io.start();

  expect(session.listeners(voice.AgentSessionEventTypes.AgentStateChanged)).toContain(io["onAgentStateChanged"]);
  await io.close();
});

test("a job does not adopt our session, as it does with any other", async () => {
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

test("everything said is removed, except for one minimal item", async () => {
  const { session, agent, io } = await start();
  for (const content of ["One.", "Two.", "Three."]) session.history.addMessage({ role: "assistant", content });
  await agent.updateChatCtx(session.history);

  clearChatHistory(session);

  expect([session.history.items.length, session.history.truncate(0).items.length]).toEqual([1, 1]);
  await expect.poll(() => agent.chatCtx.items).toEqual([expect.objectContaining({ role: "system" })]);
  await io.close();
  await session.close();
});

/** The first frame that RoomIO passes on from a microphone. */
async function firstFrame(io: voice.RoomIO) {
  const source = new AudioSource(48_000, 1, 1_000);
  const track = LocalAudioTrack.createAudioTrack("microphone", source);
  const stream = io["audioInput"]?.["createStream"](track).getReader();
  await source.captureFrame(new AudioFrame(new Int16Array(9_600), 48_000, 1, 9_600));
  const frame = await stream?.read();
  await stream?.cancel();
  await source.close();
  return frame?.value;
}

test("sound from a microphone arrives in the voice activity model's windows, 32 ms at its rate", async () => {
  const { session, io } = await start({ isListening: true });

  expect(await firstFrame(io)).toMatchObject({ sampleRate: 16_000, samplesPerChannel: 512 });
  await io.close();
  await session.close();
});

test("without our changes, RoomIO passes sound on in 10 ms frames at another rate", async () => {
  const session = new voice.AgentSession({ vad: null, turnHandling: { turnDetection: null } });
  session["agent"] = new voice.Agent({ instructions: "" });
  const io = new voice.RoomIO({ agentSession: session, room: new Room() });
  io.start();

  expect(await firstFrame(io)).toMatchObject({ sampleRate: 24_000, samplesPerChannel: 240 });
  await io.close();
});
