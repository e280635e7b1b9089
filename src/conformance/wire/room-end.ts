import type * as RtcNode from "@livekit/rtc-node";
import { loadRtcNode } from "../../livekit/load-rtc-node.ts";
import { LIMITS, TOPIC } from "../../protocol/limits.ts";
import type { Arrival, FrameKind } from "./frame.ts";

/** A LiveKit server and its API key and secret. */
export interface LivekitServer {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
}

interface PublishOptions {
  /** @defaultValue what the protocol requires for this length */
  readonly way?: FrameKind;
  /** @defaultValue everyone */
  readonly to?: readonly string[];
  readonly topic?: string;
}

/** A participant in a room that sends and receives bytes without interpreting them. */
export class RoomConnection implements AsyncDisposable {
  readonly room: RtcNode.Room;
  #sending: Promise<void> = Promise.resolve();

  private constructor(room: RtcNode.Room) {
    this.room = room;
  }

  static async join(
    url: string,
    token: string,
    onArrival: (arrival: Arrival) => void = () => {},
  ): Promise<RoomConnection> {
    const { DataPacketKind, Room, RoomEvent } = await loadRtcNode();
    const room = new Room();
    room.on(RoomEvent.DataReceived, (...[bytes, sender, kind, topic = ""]) => {
      const isReliable = kind === undefined || kind === DataPacketKind.KIND_RELIABLE;
      const from = sender?.identity;
      onArrival({ bytes, way: "packet", topic, isReliable, from, at: performance.now() });
    });
    room.registerByteStreamHandler(TOPIC, (reader, { identity }) => {
      void reader.readAll().then(
        (chunks) => {
          const bytes = Buffer.concat(chunks);
          // A stream whose sender has left ends like a complete one, and may be empty.
          if (bytes.length === 0) return;
          onArrival({ bytes, way: "stream", topic: TOPIC, isReliable: true, from: identity, at: performance.now() });
        },
        () => {},
      );
    });
    await room.connect(url, token, { autoSubscribe: false, dynacast: false });
    return new RoomConnection(room);
  }

  /** Sends a frame. Frames are sent in the order of the calls. */
  async publish(bytes: Uint8Array, options: PublishOptions = {}): Promise<void> {
    const sent = this.#sending.then(() => this.#publish(bytes, options));
    this.#sending = sent.catch(() => {});
    await sent;
  }

  async #publish(bytes: Uint8Array, { way, to, topic = TOPIC }: PublishOptions): Promise<void> {
    const local = this.room.localParticipant;
    if (!local) throw new Error("The room is not connected");
    if ((way ?? (bytes.length > LIMITS.packetBytes ? "stream" : "packet")) === "packet") {
      await local.publishData(bytes, { reliable: true, topic, ...(to && { destination_identities: [...to] }) });
      return;
    }
    const writer = await local.streamBytes({ topic, ...(to && { destinationIdentities: [...to] }) });
    await writer.write(bytes);
    await writer.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.room.disconnect();
  }
}
