import { DisconnectReason, type RemoteParticipant, ParticipantKind, RoomEvent, type Room } from "@livekit/rtc-node";
import { cleanText } from "../../lib/clean-json.ts";
import { createId } from "../../lib/id.ts";
import { isOverCap } from "../../livekit/capped-streams.ts";
import { isId } from "../../protocol/messages/fields.ts";
import { AGENT_STATE_ATTRIBUTE, HANDOVER_ATTRIBUTE, isServing } from "../../protocol/attributes.ts";
import { LIMITS, TOPIC } from "../../protocol/limits.ts";
import { Keypads, TURN_KEY } from "./keypads.ts";
import {
  isPerson,
  isRinging,
  toRoomParticipant,
  type OnRoomInput,
  type RoomCloseReason,
  type RoomParticipant,
} from "./room-input.ts";
import { SenderResolver, type RoomApi } from "./sender-resolver.ts";
import { StreamBudget } from "./stream-budget.ts";

const CHAT_TOPIC = "lk.chat";

export interface TextStream {
  /** @param isWhole whether this is the whole text of the stream. @defaultValue false */
  readonly write: (text: string, isWhole?: boolean) => Promise<void>;
  readonly close: () => Promise<void>;
}

interface RoomLinkOptions extends RoomApi {
  /** Whether callers start and end their turns with a key. @defaultValue false */
  readonly hasTurnKey?: boolean;
}

/** Connects a session with its LiveKit room: receives bytes and their sender, and sends bytes. */
export class RoomLink {
  readonly #room: Room;
  readonly #take: OnRoomInput;
  readonly #senders: SenderResolver;
  readonly #streams = new StreamBudget();
  readonly #keypads: Keypads;
  /**
   * Phones that nobody has answered yet. A phone counts as joined only once it is answered, because until then there is
   * nobody to greet.
   */
  readonly #ringing = new Set<string>();

  /** Registers its handlers immediately. Create it before the room connects, so that no event is missed. */
  constructor(room: Room, take: OnRoomInput, { hasTurnKey = false, ...api }: RoomLinkOptions) {
    this.#room = room;
    this.#take = take;
    this.#senders = new SenderResolver(
      {
        isLocal: (identity) => identity === room.localParticipant?.identity || room.remoteParticipants.has(identity),
        ...api,
      },
      take,
    );
    const enter = (from: RoomParticipant, keys: string) =>
      take({ type: "utterance", from, transcript: { id: createId(), text: `[keypad] ${keys}`, language: undefined } });
    this.#keypads = new Keypads(enter, hasTurnKey ? TURN_KEY : undefined);
    room.on(RoomEvent.DtmfReceived, (_code, digit, participant: RemoteParticipant | undefined) => {
      // `participant` is undefined until LiveKit has announced it. Callers publish a track, so they are announced at
      // once.
      if (participant && isPerson(participant)) this.#keypads.press(toRoomParticipant(participant), digit);
    });
    this.#followParticipants();
    this.#receivePackets();
    this.#receiveChat();
  }

  /** Reports all participants that were in the room before the agent. Call once, after connecting. */
  announcePresent(): void {
    for (const participant of this.#room.remoteParticipants.values()) this.#handleJoined(participant);
  }

  /**
   * Sends one frame to the given participants, or to everyone. A frame over 15,000 bytes is sent as a byte stream.
   * Phone callers have no data channel, so a frame addressed only to callers is not sent.
   */
  async publish(bytes: Uint8Array, named: readonly string[] | undefined): Promise<void> {
    const to = named?.filter((identity) => this.#room.remoteParticipants.get(identity)?.kind !== ParticipantKind.SIP);
    if (to?.length === 0) return;
    const local = this.#room.localParticipant;
    if (!local) throw new Error("The room is not connected");
    if (bytes.length <= LIMITS.packetBytes) {
      const addressed = to ? { destination_identities: [...to] } : {};
      await local.publishData(bytes, { reliable: true, topic: TOPIC, ...addressed });
      return;
    }
    const addressed = to ? { destinationIdentities: [...to] } : {};
    const writer = await local.streamBytes({ topic: TOPIC, totalSize: bytes.length, ...addressed });
    await writer.write(bytes);
    await writer.close();
  }

  /** The identities of the other Parley agents in the room that serve it or are waiting to do so. */
  get otherAgents(): readonly string[] {
    const agents = [...this.#room.remoteParticipants.values()].filter(({ kind }) => kind === ParticipantKind.AGENT);
    const others = agents.filter(({ attributes }) => AGENT_STATE_ATTRIBUTE in attributes && isServing(attributes));
    return others.map(({ identity }) => identity);
  }

  /** Whether an agent is in the room, serves it, and is not handing its session over. */
  keepsSession(identity: string): boolean {
    const attributes = this.#room.remoteParticipants.get(identity)?.attributes;
    return attributes !== undefined && isServing(attributes) && !attributes[HANDOVER_ATTRIBUTE];
  }

  /** Returns the text stream in which ordinary LiveKit clients follow an answer. The caller closes it. */
  async openTranscription(segmentId: string): Promise<TextStream> {
    const local = this.#room.localParticipant;
    if (!local) throw new Error("The room is not connected");
    const attributes = { "lk.segment_id": segmentId, "lk.transcription_final": "false" };
    const options = { topic: "lk.transcription", attributes };
    let opened: ReturnType<typeof local.streamText> | undefined;
    return {
      write: async (text, isWhole = false) => {
        // Sends a complete text with one request to LiveKit. A stream needs three (open, write, close), and the text
        // would have to wait until the stream is open.
        if (isWhole && !opened) return void (await local.sendText(text, { ...options, compress: false }));
        opened ??= local.streamText(options);
        await (await opened).write(text);
      },
      close: async () => (await opened)?.close(),
    };
  }

  close(): void {
    this.#keypads.close();
    this.#senders.close();
    this.#room.unregisterByteStreamHandler(TOPIC);
    this.#room.unregisterTextStreamHandler(CHAT_TOPIC);
  }

  #followParticipants(): void {
    const room = this.#room;
    room.on(RoomEvent.ParticipantConnected, (participant) => this.#handleJoined(participant));
    room.on(RoomEvent.ParticipantAttributesChanged, (_changed, { identity }) => {
      const participant = this.#ringing.delete(identity) && room.remoteParticipants.get(identity);
      if (participant) this.#handleJoined(participant);
    });
    room.on(RoomEvent.ParticipantDisconnected, (participant) => {
      this.#ringing.delete(participant.identity);
      this.#streams.forget(participant.identity);
      if (isPerson(participant)) this.#take({ type: "left", identity: participant.identity });
    });
    room.on(RoomEvent.Disconnected, (reason) => {
      const closeReason = toRoomCloseReason(reason);
      this.#take({ type: "disconnected", ...(closeReason && { closeReason }) });
    });
  }

  /** Packets arrive as data packets or, if they are too large for one, as byte streams. */
  #receivePackets(): void {
    this.#room.on(RoomEvent.DataReceived, (...[bytes, participant, , topic]) => {
      if (topic !== undefined && topic !== "" && topic !== TOPIC) return;
      if (!participant) this.#senders.hold(bytes);
      else if (isPerson(participant)) this.#senders.pass(toRoomParticipant(participant), bytes);
    });
    this.#room.registerByteStreamHandler(TOPIC, (reader, { identity }) => {
      void this.#read(reader, identity, (from, chunks, isWhole) => {
        // An oversized stream is truncated and padded to a size that the codec rejects. It is passed on because its
        // first bytes may contain the id of a waiting call.
        this.#take({ type: "packet", from, bytes: concat(chunks, isWhole ? 0 : LIMITS.envelopeBytes + 1) });
      });
    });
  }

  #receiveChat(): void {
    this.#room.registerTextStreamHandler(CHAT_TOPIC, (reader, { identity }) => {
      let isRefused = false;
      this.#take({ type: "chat_opened", identity, refuse: () => (isRefused = true) });
      if (isRefused) return void reader.close();
      const { streamId } = reader.info;
      // Chat texts are never resent under the same id, so an id that cannot be stored may be replaced.
      const id = isId(streamId) ? streamId : createId();
      void this.#read(reader, identity, (from, chunks, isWhole) => {
        if (isWhole) this.#take({ type: "chat", from, id, text: cleanText(chunks.join("")) });
        else this.#take({ type: "dropped", reason: "too_large" });
      });
    });
  }

  #handleJoined(participant: RemoteParticipant): void {
    if (!isPerson(participant)) return;
    if (isRinging(participant)) return void this.#ringing.add(participant.identity);
    const joined = toRoomParticipant(participant);
    this.#take({ type: "joined", participant: joined });
    this.#senders.handleJoined(joined);
  }

  /** Reads a stream. Streams always carry their sender's identity, even before that participant is announced. */
  async #read<Chunk extends Uint8Array | string>(
    reader: AsyncIterable<Chunk> & { readonly close: () => Promise<void> },
    identity: string,
    deliver: (from: RoomParticipant, chunks: Chunk[], isWhole: boolean) => void,
  ): Promise<void> {
    const share = this.#streams.open(identity);
    if (!share) {
      void reader.close();
      return this.#take({ type: "stream_refused", identity });
    }
    const chunks: Chunk[] = [];
    let size = 0;
    let isWhole = true;
    try {
      for await (const chunk of reader) {
        if (!share.take(chunk.length)) return this.#take({ type: "stream_refused", identity });
        chunks.push(chunk);
        size += chunk.length;
        isWhole = size <= LIMITS.envelopeBytes;
        if (!isWhole) break;
      }
    } catch (error) {
      if (!isOverCap(error)) return this.#take({ type: "dropped", reason: "stream_failed" });
      isWhole = false;
    } finally {
      share.close();
    }
    const known = this.#room.remoteParticipants.get(identity);
    if (!known) this.#senders.holdStream(identity, (from) => deliver(from, chunks, isWhole));
    else if (isPerson(known)) deliver(toRoomParticipant(known), chunks, isWhole);
  }
}

/** Returns why the room is closed for everyone, or `undefined` if perhaps only the agent was disconnected. */
function toRoomCloseReason(reason: DisconnectReason | undefined): RoomCloseReason | undefined {
  if (reason === DisconnectReason.ROOM_CLOSED) return "participants_left";
  return reason === DisconnectReason.ROOM_DELETED ? "room_deleted" : undefined;
}

/** Joins all chunks, zero-padded to at least `minLength` bytes. */
function concat(chunks: readonly Uint8Array[], minLength: number): Uint8Array {
  const length = chunks.reduce((size, chunk) => size + chunk.length, 0);
  const bytes = new Uint8Array(Math.max(length, minLength));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
