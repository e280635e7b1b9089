import { EventEmitter, once } from "node:events";
import { TransformStream, type ReadableStream } from "node:stream/web";
import {
  type AudioFrame,
  type ByteStreamReader,
  type RemoteParticipant,
  type RemoteTrackPublication,
  type Room,
  RoomEvent,
  type Track,
} from "@livekit/rtc-node";
import type { Logger } from "pino";
import { abortable } from "../../lib/abortable.ts";
import { decodeRecording, type Recording } from "./decode-recording.ts";

/** LiveKit's name for these byte streams. */
const TOPIC = "lk.agent.pre-connect-audio-buffer";
/** AudioTrackFeature.TF_PRECONNECT_BUFFER, which rtc-node 0.13.35 does not export. */
const PRECONNECT_BUFFER = 6;
/** Clients open the stream when the agent joins, which is usually long before their microphone is subscribed to. */
const OPENED_WITHIN_MS = 500;
/** Clients end the stream when their microphone is subscribed to. */
const COMPLETE_WITHIN_MS = 3_000;
/** A stream that is still open after this time is closed. Clients wait 10 s for an agent. */
const OPEN_FOR_MS = 15_000;
/** 10 s of stereo PCM at 48 kHz. */
const MAX_BYTES = 2_000_000;

interface IncomingRecording {
  readonly trackId: string;
  /** Resolves with `undefined` if the stream failed or was too large. */
  readonly recording: Promise<Recording | undefined>;
}

/**
 * What participants said before the agent could hear them. LiveKit's clients record it (`preConnectBuffer`), and send
 * it as a byte stream with these attributes: `trackId`, `sampleRate` and `channels`. It is placed before the live audio
 * of that track.
 */
export class PreConnectAudio {
  readonly #room: Room;
  readonly #logger: Logger;
  /** By identity. One per participant: while it is being received, others of the same participant are refused. */
  readonly #incoming = new Map<string, IncomingRecording>();
  /** Emits the key of each recording that a participant begins to send. */
  readonly #opened = new EventEmitter();
  readonly #closed = new AbortController();

  /** Must be called before the room is connected: LiveKit drops streams that nobody expects. */
  constructor(room: Room, logger: Logger) {
    this.#room = room;
    this.#logger = logger;
    room.registerByteStreamHandler(TOPIC, (reader, { identity }) => this.#receive(reader, identity));
    room.on(RoomEvent.ParticipantDisconnected, this.#onDisconnected);
  }

  /** Returns the track's audio, starting with what its participant recorded. A recording is returned only once. */
  precede(track: Track, live: ReadableStream<AudioFrame>): ReadableStream<AudioFrame> {
    const identity = this.#recordedBy(track.sid);
    if (identity === undefined) return live;
    const start = async (controller: TransformStreamDefaultController<AudioFrame>) => {
      for (const frame of await this.#take(identity, track.sid ?? "")) controller.enqueue(frame);
    };
    return live.pipeThrough(new TransformStream({ start }));
  }

  close(): void {
    this.#closed.abort();
    this.#room.unregisterByteStreamHandler(TOPIC);
    this.#room.off(RoomEvent.ParticipantDisconnected, this.#onDisconnected);
  }

  readonly #onDisconnected = ({ identity }: RemoteParticipant): void => void this.#incoming.delete(identity);

  /** Returns the participant who published a track with a recording. */
  #recordedBy(trackId: string | undefined): string | undefined {
    for (const { identity, trackPublications } of this.#room.remoteParticipants.values())
      if (hasRecording(trackPublications.get(trackId ?? ""))) return identity;
    return undefined;
  }

  async #take(identity: string, trackId: string): Promise<AudioFrame[]> {
    const until = (ms: number) => AbortSignal.any([this.#closed.signal, AbortSignal.timeout(ms)]);
    try {
      if (this.#incoming.get(identity)?.trackId !== trackId)
        await once(this.#opened, keyOf(identity, trackId), { signal: until(OPENED_WITHIN_MS) });
      const incoming = this.#incoming.get(identity);
      const recording = await abortable(incoming?.recording ?? Promise.resolve(undefined), until(COMPLETE_WITHIN_MS));
      this.#incoming.delete(identity);
      return recording ? await decodeRecording(recording) : [];
    } catch (error) {
      const isAbsent = error instanceof Error && ["AbortError", "TimeoutError"].includes(error.name);
      this.#logger[isAbsent ? "debug" : "warn"]({ identity, error }, "no pre-connect audio");
      return [];
    }
  }

  #receive(reader: ByteStreamReader, identity: string): void {
    const { trackId = "", sampleRate, channels } = reader.info.attributes ?? {};
    if (trackId === "" || this.#incoming.has(identity)) return void reader.close();
    const { mimeType } = reader.info;
    const recording = readAll(reader).then(
      (chunks) => chunks && { mimeType, sampleRate: Number(sampleRate), channels: Number(channels), chunks },
    );
    const incoming: IncomingRecording = { trackId, recording };
    this.#incoming.set(identity, incoming);
    this.#opened.emit(keyOf(identity, trackId));
    // By then, nobody waits for it.
    const forget = () => this.#incoming.get(identity) === incoming && this.#incoming.delete(identity);
    void recording.then(() => setTimeout(forget, COMPLETE_WITHIN_MS).unref());
  }
}

const keyOf = (identity: string, trackId: string) => `${trackId} of ${identity}`;

function hasRecording(publication: RemoteTrackPublication | undefined): boolean {
  return publication?.info?.audioFeatures.includes(PRECONNECT_BUFFER) ?? false;
}

/** Returns undefined if the stream fails or is too large. */
async function readAll(reader: ByteStreamReader): Promise<Uint8Array[] | undefined> {
  const timer = setTimeout(() => void reader.close(), OPEN_FOR_MS);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of reader) {
      size += chunk.length;
      if (size > MAX_BYTES) return undefined;
      chunks.push(chunk);
    }
    return chunks;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
