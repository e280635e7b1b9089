import { decode } from "@msgpack/msgpack";
import { connect } from "../../src/client/index.ts";
import { encodeEnvelope } from "../../src/protocol/codec/codec.ts";
import { MemoryRoom } from "../../test/support/doubles/memory-transport.ts";
import { clockMs } from "../clock.ts";
import type { Work } from "./work.ts";

const SENTENCES = 20_000;
const TEXTS = 2_000;

/**
 * Measures what the SDK itself costs in an in-memory room: receiving a sentence (compared with only decoding it) and
 * sending a text.
 */
export const clientSdk: Work = {
  name: "client",
  hasArms: false,
  async run({ extent, samples, progress }) {
    progress("the SDK's own cost");
    for (let round = -1; round < extent.rounds; round++) {
      const room = new MemoryRoom();
      await using parley = await connect(room.transport);
      let heard = 0;
      parley.on("sentence", () => heard++);
      const packets = Array.from({ length: SENTENCES }, (_, index) => sentence(index));
      const taken = microseconds(packets, (packet) => room.sayBytes(packet));
      const bare = microseconds(packets, (packet) => void decode(packet));
      if (heard !== SENTENCES) throw new Error(`${heard} of ${SENTENCES} sentences were heard`);
      const startedAt = clockMs();
      for (let index = 0; index < TEXTS; index++) await parley.sendText("What time is it?").acknowledged;
      const sent = ((clockMs() - startedAt) * 1_000) / TEXTS;
      // The first round is a warm-up.
      if (round < 0) continue;
      samples.add("clientMessage", "parley", { round, values: [taken] });
      samples.add("clientMessage", "floor", { round, values: [bare] });
      samples.add("clientSend", "parley", { round, values: [sent] });
    }
  },
};

function sentence(index: number): Uint8Array {
  const text = "It is ten past two, and the sun is out over the whole of the bay.";
  const body = { id: `sen_${index}`, previousId: "msg_1", sequence: index + 1, text, isFinal: false };
  return encodeEnvelope({
    stanzaId: -10 - index,
    conversationId: "ac_1",
    message: { type: "assistant_sentence", body },
  });
}

function microseconds<Each>(all: readonly Each[], work: (each: Each) => void): number {
  const startedAt = clockMs();
  for (const each of all) work(each);
  return ((clockMs() - startedAt) * 1_000) / all.length;
}
