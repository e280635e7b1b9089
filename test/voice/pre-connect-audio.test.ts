import { AudioFrame, AudioSource, LocalAudioTrack, TrackPublishOptions, TrackSource } from "@livekit/rtc-node";
import { beforeAll, expect, test, vi } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { loadRecognizer } from "../support/embedded-speech.ts";
import { forFile } from "../support/lifetimes.ts";
import type { Participant } from "../support/participant.ts";
import { browserRecording, recording, RECORDING_RATE, silence } from "../support/recordings.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

// The model is loaded once, which takes seconds on a busy machine.
vi.setConfig({ hookTimeout: 180_000 });

const TOPIC = "lk.agent.pre-connect-audio-buffer";

beforeAll(() => warmUp());

const recognizer = forFile(loadRecognizer);

/** Publishes a microphone track that is marked as recorded before the agent could hear it. */
async function publishRecorded({ room: { localParticipant } }: Participant) {
  const source = new AudioSource(RECORDING_RATE, 1, 10_000);
  const track = LocalAudioTrack.createAudioTrack("microphone", source);
  const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE, preconnectBuffer: true });
  const publication = await localParticipant?.publishTrack(track, options);
  return {
    trackId: publication?.sid ?? "",
    speak: (samples: Int16Array) => source.captureFrame(new AudioFrame(samples, RECORDING_RATE, 1, samples.length)),
  };
}

interface SentRecording {
  readonly trackId: string;
  readonly to: string;
  readonly mimeType?: string;
}

/** Sends a recording as LiveKit's clients do. */
async function send(client: Participant, bytes: Uint8Array, { trackId, to, mimeType = "audio/pcm" }: SentRecording) {
  const attributes = { trackId, sampleRate: String(RECORDING_RATE), channels: "1" };
  const options = { topic: TOPIC, destinationIdentities: [to], mimeType, attributes };
  const writer = await client.room.localParticipant?.streamBytes({ name: "preconnect-buffer", ...options });
  await writer?.write(bytes);
  await writer?.close();
}

const bytesOf = (samples: Int16Array) => new Uint8Array(samples.buffer);

/** Starts a session with a participant whose microphone was recorded before the agent could hear it. */
async function start(voice: VoiceAgent) {
  voice.agent.model.script(() => reply([text("I see.")]));
  const client = await voice.agent.client("user");
  const microphone = await publishRecorded(client);
  const to = voice.agent.room.localParticipant?.identity ?? "";
  return { client, microphone, sent: { trackId: microphone.trackId, to } };
}

/** Returns the words of a participant's next turn, without punctuation. */
async function nextWords(client: Participant): Promise<string> {
  const { text: said } = await client.next("transcription", ({ final }) => final);
  return said.toLowerCase().replaceAll(/[^a-z ]/gu, "");
}

test.each(["audio/pcm", "audio/webm;codecs=opus"])(
  "words that were recorded before the agent could hear them are heard: %s",
  async (mimeType) => {
    await using voice = await VoiceAgent.start({ stt: recognizer });
    const { client, microphone, sent } = await start(voice);
    const webm = await browserRecording();

    await send(client, mimeType === "audio/pcm" ? bytesOf(await recording("ten-of-clubs")) : webm, {
      ...sent,
      mimeType,
    });
    await microphone.speak(silence(2_000));

    expect(await nextWords(client)).toBe("ten of clubs");
  },
);

test("what begins in the recording and goes on in the live audio is one message, in order", async () => {
  await using voice = await VoiceAgent.start({ stt: recognizer, settings: { endOfTurnMs: 1_500 } });
  const { client, microphone, sent } = await start(voice);

  await send(client, bytesOf(await recording("ten-of-clubs")), sent);
  await microphone.speak(await recording("seven-of-clubs"));
  await microphone.speak(silence(3_000));

  expect(await nextWords(client)).toBe("ten of clubs seven of clubs");
});

test("a participant who announces a recording and sends none is heard", async () => {
  await using voice = await VoiceAgent.start({ stt: recognizer });
  const { client, microphone } = await start(voice);

  await microphone.speak(await recording("seven-of-clubs"));
  await microphone.speak(silence(2_000));

  expect(await nextWords(client)).toBe("seven of clubs");
});

test("a recording for somebody else's microphone is not heard, and a damaged one does not stop the agent", async () => {
  await using voice = await VoiceAgent.start({ stt: recognizer });
  const attacker = await voice.agent.client("attacker");
  const { client, microphone, sent } = await start(voice);

  await send(attacker, bytesOf(await recording("ten-of-clubs")), sent);
  await send(client, new Uint8Array(50_000).fill(7), { ...sent, mimeType: "audio/webm;codecs=opus" });
  await microphone.speak(await recording("seven-of-clubs"));
  await microphone.speak(silence(2_000));

  expect(await nextWords(client)).toBe("seven of clubs");
});
