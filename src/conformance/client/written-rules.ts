import { formRules, type Recording, type WrittenRule } from "../run/written-rules.ts";
import { nameOf } from "../wire/frame.ts";

/** Rules for the frames that a client writes. */
export const CLIENT_RULES: readonly WrittenRule[] = [
  ...formRules("SHOULD"),
  {
    id: "write.stanzas-once",
    level: "MUST",
    sentence: "Never reused in a session; a client that rejoins may start at 1 again.",
    find: findReusedStanza,
  },
  { id: "write.ack-stanza", level: "SHOULD", sentence: "Acks have 0", find: findNumberedAck },
];

function findReusedStanza({ frames, joins }: Recording): string | undefined {
  const seen = new Map<number, string>();
  for (const [index, frame] of frames.entries()) {
    if (joins.includes(index)) seen.clear();
    const { stanzaId, rawBody } = frame;
    if (stanzaId === 0) continue;
    const what = `${nameOf(frame)} ${JSON.stringify(rawBody["id"])}`;
    const before = seen.get(stanzaId) ?? what;
    if (before !== what) return `Stanza ${stanzaId} was ${before}, then ${what}`;
    seen.set(stanzaId, what);
  }
  return undefined;
}

function findNumberedAck({ frames }: Recording): string | undefined {
  const ack = frames.find(({ message, stanzaId }) => message?.type === "acknowledgement" && stanzaId !== 0);
  return ack && `An Ack has the stanzaId ${ack.stanzaId}`;
}
