import { type Room, RoomEvent } from "@livekit/rtc-node";
import { inject } from "vitest";
import type { AccessProvider } from "../../../src/conformance/worker/kit-client.ts";
import { pack } from "../../../src/conformance/wire/pack.ts";
import { unpackPacket } from "../../../src/protocol/codec/decode-envelope.ts";
import type { RecordedRequest } from "../../../src/model-server/model-server.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { TestAgent } from "../../support/agent.ts";
import { createToken } from "../../support/participant.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import type { Envelope, Flaw, Heard } from "./flaws.ts";

export interface BrokenWorker extends AsyncDisposable {
  /** Gives access to a room that the worker is in. */
  readonly grantAccess: AccessProvider;
}

/** Starts our worker with flaws. Each room that is requested gets one session, whose flaws are made by `makeFlaws`. */
export async function startBrokenWorker(makeFlaws: () => readonly Flaw[]): Promise<BrokenWorker> {
  const cleanup = new AsyncDisposableStack();
  const { url: databaseUrl } = cleanup.use(await tempDatabase());
  const agents = new Map<string, Promise<TestAgent>>();
  const open = async (roomName: string) => {
    const prepareRoom = (room: Room) => addFlaws(room, makeFlaws());
    const agent = cleanup.use(await TestAgent.start({ roomName, databaseUrl, prepareRoom }));
    agent.model.script(answer);
    return agent;
  };
  const grantAccess: AccessProvider = async (room, identity) => {
    const agent = agents.get(room) ?? open(room);
    agents.set(room, agent);
    await agent;
    return { token: await createToken(room, identity), livekitUrl: inject("livekitUrl") };
  };
  return { grantAccess, [Symbol.asyncDispose]: () => cleanup.disposeAsync() };
}

/** Calls the tool that the user asks for, as in `use kit_echo {}`. Replies to anything else with a fixed text. */
function answer({ body }: RecordedRequest) {
  const messages = body["messages"] as readonly { readonly content: readonly { readonly text?: string }[] }[];
  const asked = messages.at(-1)?.content.at(-1)?.text ?? "";
  const [, name = "", input = "{}"] = /use (\w+) (\{[^}]*\})/.exec(asked) ?? [];
  const isOffered = (body["tools"] as readonly { readonly name: string }[]).some((tool) => tool.name === name);
  return isOffered
    ? reply([toolUse(name, JSON.parse(input) as Record<string, unknown>)])
    : reply([text("Here is an answer. Done.")]);
}

/** Applies the flaws to each packet that the session sends or receives. Streams are left unchanged. */
function addFlaws(room: Room, flaws: readonly Flaw[]): void {
  const local = () => {
    if (!room.localParticipant) throw new Error("The room is not connected");
    return room.localParticipant;
  };
  const connect = room.connect.bind(room);
  room.connect = async (...args) => {
    await connect(...args);
    const publish = local().publishData.bind(local());
    const tell = (envelope: Envelope, to: string) => {
      const options = { reliable: true, topic: "parley", destination_identities: [to] };
      void publish(pack(envelope), options).catch(() => {});
    };
    local().publishData = async (bytes, options) => {
      const to = options.destination_identities ?? [];
      const said = applyFlaws(flaws, read(bytes), (flaw, envelope) => (flaw.say ? flaw.say(envelope, to) : envelope));
      if (said) await publish(pack(said), options);
    };
    const emit = room.emit.bind(room);
    room.emit = ((event: string, ...args: unknown[]) => {
      const [bytes, participant, kind, topic] = args as [Uint8Array, { identity: string } | undefined, unknown, string];
      const envelope = event === RoomEvent.DataReceived && participant ? read(bytes) : undefined;
      if (!envelope || !participant) return emit(event as never, ...(args as never));
      const heard: Heard = { envelope, from: participant.identity, topic };
      const left = applyFlaws(flaws, heard, (flaw, each) => (flaw.hear ? flaw.hear(each, tell) : each));
      if (!left) return true;
      const from = room.remoteParticipants.get(left.from) ?? participant;
      const packet = left.envelope === envelope ? bytes : pack(left.envelope);
      return emit(event as never, ...([packet, from, kind, left.topic] as never));
    }) as Room["emit"];
  };
}

/**
 * Passes a packet or an envelope through each flaw. Returns the result, or `undefined` if one of the flaws drops it.
 */
function applyFlaws<Thing>(
  flaws: readonly Flaw[],
  thing: Thing | undefined,
  change: (flaw: Flaw, thing: Thing) => Thing | undefined,
): Thing | undefined {
  return flaws.reduce((left, flaw) => left && change(flaw, left), thing);
}

function read(bytes: Uint8Array): Envelope | undefined {
  try {
    return unpackPacket(bytes) as unknown as Envelope;
  } catch {
    return undefined;
  }
}
