import type { Transport } from "../../src/client/index.ts";
import { decodeEnvelope } from "../../src/protocol/codec/decode-envelope.ts";
import { clockMs } from "../clock.ts";

/** Wraps a transport and reports how long each ToolUseResult took to be acknowledged. */
export function timedTransport(transport: Transport, onResultAck: (ms: number) => void): Transport {
  const sent = new Map<number, number>();
  return Object.assign(Object.create(transport) as Transport, {
    sendPacket: (...[bytes, to]: Parameters<Transport["sendPacket"]>) => {
      const envelope = decodeEnvelope(bytes);
      if ("message" in envelope && envelope.message.type === "tool_use_result") sent.set(envelope.stanzaId, clockMs());
      return transport.sendPacket(bytes, to);
    },
    listen: (listener: Parameters<Transport["listen"]>[0]) =>
      transport.listen({
        ...listener,
        onPacket: (bytes, from) => {
          const at = clockMs();
          const envelope = decodeEnvelope(bytes);
          if ("message" in envelope && envelope.message.type === "acknowledgement") {
            const sentAt = sent.get(envelope.message.body.acknowledgedStanzaId);
            if (sentAt !== undefined) onResultAck(at - sentAt);
          }
          listener.onPacket(bytes, from);
        },
      }),
  });
}
