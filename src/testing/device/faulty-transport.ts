import { setTimeout as sleep } from "node:timers/promises";
import type { Transport } from "../../client/room/transport.ts";
import { decodeEnvelope, encodeEnvelope } from "../../protocol/codec/codec.ts";

/** What becomes of a call's result on its way to the worker. */
export type Fate =
  | { readonly kind: "lost" }
  | { readonly kind: "sent"; readonly afterMs: number; readonly times: 1 | 2 };

/** Far from the numbers that the client counts, so that the second result is none that was sent again. */
const SECOND_STANZA = 1_000_000;

/**
 * A client's way into the room on which results of tools are delayed, doubled or lost. The client itself keeps the
 * protocol's rules; a device that breaks them is what a test wants to see.
 *
 * @param fateOf by the call's id; `undefined`: the result goes as it is
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
    // The client must not wait for it: its sends have a deadline.
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
