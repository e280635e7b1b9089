import { setTimeout as sleep } from "node:timers/promises";
import type { Transport } from "../../client/room/transport.ts";
import { encodeEnvelope } from "../../protocol/codec/codec.ts";
import { decodeEnvelope } from "../../protocol/codec/decode-envelope.ts";

/** What happens to a call's result on its way to the worker. */
export type Fate =
  | { readonly kind: "lost" }
  | { readonly kind: "sent"; readonly afterMs: number; readonly times: 1 | 2 };

/**
 * Added to the stanza number of a duplicated result. Far above the client's own numbers, so that the second result does
 * not look like a resend of the first.
 */
const SECOND_STANZA = 1_000_000;

/**
 * Wraps a client's transport to delay, duplicate or drop tool results. The client itself follows the protocol, but a
 * test may need a device that does not.
 *
 * @param fateOf returns what happens to a call's result, by call id. If it returns `undefined`, the result is sent as
 *   it is.
 */
export function faultyTransport(
  inner: Transport,
  fateOf: (callId: string) => Fate | undefined,
  closed: AbortSignal,
): Transport {
  const send = async (bytes: Uint8Array, pass: (bytes: Uint8Array) => Promise<void>): Promise<void> => {
    const sent = decodeEnvelope(bytes);
    const message = "message" in sent ? sent.message : undefined;
    const fate = message?.type === "tool_use_result" ? fateOf(message.body.id) : undefined;
    if (!fate || !message) return pass(bytes);
    if (fate.kind === "lost") return;
    const { stanzaId, conversationId, meta } = sent;
    const second = encodeEnvelope({ stanzaId: stanzaId + SECOND_STANZA, conversationId, meta, message });
    const passAll = async () => {
      await pass(bytes);
      if (fate.times === 2) await pass(second);
    };
    if (fate.afterMs === 0) return passAll();
    // Not awaited, because the client gives each send a deadline.
    void sleep(fate.afterMs, undefined, { signal: closed })
      .then(passAll)
      .catch(() => {});
  };
  return {
    get isConnected() {
      return inner.isConnected;
    },
    get roomName() {
      return inner.roomName;
    },
    get peers() {
      return inner.peers;
    },
    sendPacket: (bytes, to) => send(bytes, (each) => inner.sendPacket(each, to)),
    sendStream: (bytes, to) => send(bytes, (each) => inner.sendStream(each, to)),
    listen: (listener) => inner.listen(listener),
  };
}
