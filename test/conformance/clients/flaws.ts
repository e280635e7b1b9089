import type { RoomPeer, Transport, TransportListener } from "../../../src/client/index.ts";
import { pack } from "../../../src/conformance/wire/pack.ts";
import { messageTypeOf, MESSAGES, type MessageType } from "../../../src/protocol/messages/messages.ts";
import { unpackPacket } from "../../../src/protocol/codec/decode-envelope.ts";

interface Envelope {
  readonly stanzaId: number;
  readonly type: number;
  readonly body: Record<string, unknown>;
  readonly [key: string]: unknown;
}

/** One mistake, in a client that is otherwise correct. */
interface Flaw {
  /** The id of the only check that finds this flaw. */
  readonly found: string;
  /** What the check reports when it finds this flaw. */
  readonly seen: RegExp;
  /** Replaces or drops a message from the worker. */
  readonly hear?: (envelope: Envelope, say: (envelope: Envelope) => void) => Envelope | undefined;
  /** Replaces or delays a message that the SDK sends. */
  readonly say?: (envelope: Envelope) => Envelope | { readonly afterMs: number };
  readonly transport?: (transport: Transport) => Transport;
}

const is = ({ type }: Envelope, name: MessageType) => messageTypeOf(type) === name;
const withBody = (envelope: Envelope, body: object): Envelope => ({ ...envelope, body: { ...envelope.body, ...body } });

function listening(change: (listener: TransportListener) => TransportListener): (transport: Transport) => Transport {
  return (transport) => derive(transport, { listen: (listener) => transport.listen(change(listener)) });
}

/** Returns a transport with some members replaced. All other members are read from the original transport each time. */
function derive(transport: Transport, changes: Partial<Transport>): Transport {
  return new Proxy(transport, {
    get: (target, name: keyof Transport) => changes[name] ?? target[name],
  });
}

const seenStanzas = new Set<number>();
let ownErrors = 0;

export const FLAWS = {
  "runs what the server runs": {
    found: "call.server-shown",
    seen: /ran a call with execution server/,
    hear: (envelope) =>
      is(envelope, "tool_use_request") && envelope.body["execution"] === "server" && envelope.body["parameters"]
        ? withBody(envelope, { execution: "client" })
        : envelope,
  },
  "skips a request whose stanza it has seen": {
    found: "repeat.same-stanza",
    seen: /sent 1 results/,
    hear: (envelope) => {
      const isSeen = seenStanzas.has(envelope.stanzaId);
      seenStanzas.add(envelope.stanzaId);
      return isSeen && is(envelope, "tool_use_request") ? undefined : envelope;
    },
  },
  "sends long results as packets": {
    found: "frame.long-as-stream",
    seen: /sent a frame of \d+ bytes as a packet/,
    transport: (transport) =>
      derive(transport, {
        sendStream: (bytes, to) =>
          bytes.length < 60_000 && read(bytes)?.type === MESSAGES.tool_use_result.number
            ? transport.sendPacket(bytes, to)
            : transport.sendStream(bytes, to),
      }),
  },
  "does not notice that LiveKit has reconnected": {
    found: "reconnect.by-itself",
    seen: /the client's Configuration did not arrive/,
    transport: listening((listener) => {
      let wasConnected = false;
      const onConnected = () => {
        if (!wasConnected) listener.onConnected();
        wasConnected = true;
      };
      return { ...listener, onConnected };
    }),
  },
  "trusts whom it does not know": {
    found: "sender.unannounced",
    seen: /that is not an agent/,
    transport: (transport) => {
      const agent = (): RoomPeer | undefined => transport.peers.find(({ isAgent }) => isAgent);
      const trusting = listening((listener) => ({
        ...listener,
        onPacket: (bytes, from) => listener.onPacket(bytes, from ?? agent()),
      }));
      return trusting(transport);
    },
  },
  "tells of a timeout when nobody waits any more": {
    found: "timeout.in-time",
    seen: /result arrived after \d+ ms/,
    say: (envelope) => (envelope.body["errorCode"] === "timeout" ? { afterMs: 1_500 } : envelope),
  },
  "answers an ErrorMessage with an ErrorMessage": {
    found: "error.never-answered",
    seen: /answered an ErrorMessage with another one/,
    hear: (envelope, say) => {
      if (is(envelope, "error_message") && typeof envelope.body["code"] === "number") {
        const body = { conversationId: envelope["conversationId"], code: 101, message: "I do not understand" };
        say({ ...envelope, stanzaId: 1_000_000 + (ownErrors += 1), meta: {}, body });
      }
      return envelope;
    },
  },
  "uses a stanza twice": {
    found: "write.stanzas-once",
    seen: /Stanza 777777 was/,
    say: (envelope) => (is(envelope, "tool_use_result") ? { ...envelope, stanzaId: 777_777 } : envelope),
  },
  "dies of what is no message": {
    found: "frame.garbage",
    seen: /exited with status 1/,
    transport: listening((listener) => ({
      ...listener,
      onPacket: (bytes, from) => {
        if (bytes.length < 20 && !read(bytes)) throw process.exit(1);
        listener.onPacket(bytes, from);
      },
    })),
  },
  "claims when the server has taken over": {
    found: "either.in-time",
    seen: /claim arrived after \d+ ms/,
    say: (envelope) => (is(envelope, "acknowledgement") ? { afterMs: 1_300 } : envelope),
  },
} as const satisfies Readonly<Record<string, Flaw>>;

/** Returns a transport through which the SDK appears to have these flaws. */
export function withFlaws(names: readonly string[], transport: Transport): Transport {
  const flaws = Object.entries(FLAWS).filter(([name]) => names.includes(name));
  return flaws.reduce((flawed, [, flaw]) => withFlaw(flaw, flawed), transport);
}

function withFlaw({ hear, say, transport: change }: Flaw, original: Transport): Transport {
  const transport = change ? change(original) : original;
  const send = (way: "sendPacket" | "sendStream", bytes: Uint8Array, to: readonly string[]) => {
    const envelope = say && read(bytes);
    const said = envelope && say(envelope);
    if (!said) return transport[way](bytes, to);
    if (!("afterMs" in said)) return transport[way](said === envelope ? bytes : pack(said), to);
    setTimeout(() => void transport[way](bytes, to), Number(said["afterMs"]));
    return Promise.resolve();
  };
  return derive(transport, {
    sendPacket: (bytes, to) => send("sendPacket", bytes, to),
    sendStream: (bytes, to) => send("sendStream", bytes, to),
    listen: (listener) =>
      transport.listen({
        ...listener,
        onPacket: (bytes, from) => {
          const envelope = hear && read(bytes);
          if (!envelope) return listener.onPacket(bytes, from);
          const agents = transport.peers.filter(({ isAgent }) => isAgent).map(({ identity }) => identity);
          const heard = hear(envelope, (answer) => void transport.sendPacket(pack(answer), agents));
          if (heard) listener.onPacket(heard === envelope ? bytes : pack(heard), from);
        },
      }),
  });
}

function read(bytes: Uint8Array): Envelope | undefined {
  try {
    return unpackPacket(bytes) as unknown as Envelope;
  } catch {
    return undefined;
  }
}
