import { TransformStream, type ReadableStream } from "node:stream/web";
import { type AudioFrame, type RemoteParticipant, type Room, RoomEvent, RpcError } from "@livekit/rtc-node";
import { toAudioFrame } from "../../livekit/audio-frame.ts";
import { TURN_KEY } from "../../session/room/keypads.ts";

/** LiveKit's names for the remote methods of push-to-talk. */
const METHODS = { start: "start_turn", end: "end_turn", cancel: "cancel_turn" } as const;
/** The code of the error when another participant's turn is open. */
const BUSY = 1_409;

interface ManualTurnsOptions {
  readonly room: Room;
  /** Listens to this participant's microphone from now on. Returns `false` if there is none, or another is being heard. */
  readonly listenTo: (identity: string) => boolean;
  /** Drops what was said in the open turn. */
  readonly onCanceled: () => void;
}

/**
 * Turns whose start and end participants announce themselves, as with a push-to-talk button (`voice.turns: "manual"`).
 * Their clients call the agent's remote methods `start_turn`, `end_turn` and `cancel_turn`; telephone callers press
 * `TURN_KEY`. Outside of a turn, nothing is heard.
 */
export class ManualTurns {
  readonly #options: ManualTurnsOptions;
  #speaker: string | undefined;
  #ended = Promise.withResolvers<void>();

  constructor(options: ManualTurnsOptions) {
    this.#options = options;
    this.#ended.resolve();
    options.room.on(RoomEvent.ParticipantDisconnected, this.#onDisconnected);
    options.room.on(RoomEvent.DtmfReceived, this.#onKey);
  }

  /** Resolves when no turn is open. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Call this once the room is connected. */
  start(): void {
    const { localParticipant } = this.#options.room;
    const serve = (method: string, handle: (identity: string) => void) =>
      localParticipant?.registerRpcMethod(method, async ({ callerIdentity }) => {
        handle(callerIdentity);
        return "";
      });
    serve(METHODS.start, (identity) => this.#start(identity));
    serve(METHODS.end, (identity) => this.#end(identity));
    serve(METHODS.cancel, (identity) => this.#cancel(identity));
  }

  /** Replaces everything outside of a turn by silence. Silence instead of nothing, so that the end of speech is noticed. */
  gate(live: ReadableStream<AudioFrame>): ReadableStream<AudioFrame> {
    return live.pipeThrough(
      new TransformStream<AudioFrame, AudioFrame>({
        transform: (frame, controller) => controller.enqueue(this.#speaker === undefined ? silenceLike(frame) : frame),
      }),
    );
  }

  close(): void {
    const { room } = this.#options;
    for (const method of Object.values(METHODS)) room.localParticipant?.unregisterRpcMethod(method);
    room.off(RoomEvent.ParticipantDisconnected, this.#onDisconnected);
    room.off(RoomEvent.DtmfReceived, this.#onKey);
    this.#close();
  }

  readonly #onDisconnected = ({ identity }: { readonly identity: string }): void => this.#cancel(identity);

  /** A caller cannot be told why a turn does not start, and presses the key again. */
  readonly #onKey = (_code: number, key: string, participant: RemoteParticipant | undefined): void => {
    if (key !== TURN_KEY || !participant) return;
    const { identity } = participant;
    if (this.#speaker === identity) this.#end(identity);
    else if (this.#speaker === undefined && this.#options.listenTo(identity)) this.#open(identity);
  };

  /** @throws {RpcError} if the participant cannot be heard */
  #start(identity: string): void {
    if (this.#speaker === identity) return;
    if (this.#speaker !== undefined) throw new RpcError(BUSY, "Another participant is speaking");
    if (!this.#options.listenTo(identity)) throw new RpcError(BUSY, "Your microphone cannot be heard now");
    this.#open(identity);
  }

  #open(identity: string): void {
    this.#speaker = identity;
    this.#ended = Promise.withResolvers();
  }

  #end(identity: string): void {
    if (this.#speaker === identity) this.#close();
  }

  #cancel(identity: string): void {
    if (this.#speaker !== identity) return;
    this.#options.onCanceled();
    this.#close();
  }

  #close(): void {
    this.#speaker = undefined;
    this.#ended.resolve();
  }
}

function silenceLike({ data, sampleRate }: AudioFrame): AudioFrame {
  return toAudioFrame(new Int16Array(data.length), sampleRate);
}
