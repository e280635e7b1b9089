import { setTimeout as sleep } from "node:timers/promises";
import { createId } from "../../../lib/id.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { type Check, check as make, ensure } from "../../check.ts";
import type { FrameKind } from "../../wire/frame.ts";
import { type ClientTalk, numberOf } from "../client-talk.ts";

const check = make<ClientTalk>;
const LONG = "A frame over 15,000 bytes is sent as a byte stream on the same topic, up to 4 MiB.";
const ONE_MAP = "One LiveKit packet is one MessagePack **map** with text keys:";
const AGENT_ONLY = "accept packets and streams only from such participants.";

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Long frames, and frames that the client must skip. */
export const frameChecks: readonly Check<ClientTalk>[] = [
  check("frame.long-result", ["MUST", LONG], async (talk) => {
    const { id } = await talk.request({ toolName: "big", parameters: { bytes: 100_000 } });
    const { success, errorCode } = await talk.result(id);
    ensure(success, `A result of 100,000 bytes failed with ${errorCode}`);
  }),
  check("frame.long-as-stream", ["MUST", LONG], async (talk) => {
    const { id } = await talk.request({ toolName: "big", parameters: { bytes: 20_000 } });
    await talk.result(id);
    const packet = talk.frames.items.find(({ way, bytes }) => way === "packet" && bytes.length > LIMITS.packetBytes);
    ensure(packet === undefined, `The client sent a frame of ${packet?.bytes.length} bytes as a packet`);
  }),
  check("frame.long-request", ["MUST", LONG], async (talk) => {
    const parameters = { text: "y".repeat(100_000) };
    const { id } = await talk.request({ toolName: "echo", parameters });
    const { result } = await talk.result(id);
    ensure(result?.["text"] === parameters.text, "A request of 100,000 bytes ran with incomplete parameters");
  }),
  check("frame.request-as-stream", ["MUST", LONG], async (talk) => {
    const { id } = await talk.request({ toolName: "echo" }, { way: "stream" });
    ensure((await talk.result(id)).success, "A short request sent as a stream failed");
  }),
  check("frame.too-large-result", ["MUST", "The whole envelope at most 4 MiB, any one string 1 MiB."], async (talk) => {
    const { id } = await talk.request({ toolName: "big", parameters: { bytes: 2 * 1024 * 1024 } });
    const { success } = await talk.result(id, 10_000);
    ensure(!success, "A result with a string of 2 MiB has success: true");
  }),
  check("frame.other-topic", ["MUST", "Reliable data packets on the topic `parley`"], async (talk) => {
    const { id } = await talk.request({ toolName: "echo" }, { topic: "lk.conformance" });
    await talk.settle();
    ensure(talk.runs(id) === 0 && talk.results(id).length === 0, "A request on another topic was run or answered");
  }),
  check("frame.unknown-type", ["MUST", "Skip any other type."], async (talk) => {
    const before = talk.all("error_message").length;
    await talk.sendWrong(42, { id: "of_another_implementation", text: "…" });
    await talk.settle();
    ensure(
      talk.all("error_message").length === before,
      "The client answered a message of unknown type with an ErrorMessage",
    );
  }),
  check("frame.unknown-bodies", ["MUST", "Skip any other type."], async (talk) => {
    await talk.sendWrong(99, {});
    await talk.sendWrong(1_000_000, { id: "x", nested: { deep: [1, 2, 3] } });
    await talk.settle();
  }),
  check("frame.garbage", ["MUST", ONE_MAP], async (talk) => {
    for (const bytes of [
      utf8("Hello?"),
      Uint8Array.of(0xc1),
      Uint8Array.of(0x85, 0xa8),
      Uint8Array.of(0x93, 1, 2, 3),
    ]) {
      await talk.sendBytes(bytes);
    }
    await talk.settle();
  }),
  check("frame.no-body", ["MUST", "| `body` | map | By `type`."], async (talk) => {
    await talk.sendWrong(numberOf("assistant_sentence"), { text: 7 });
    await talk.sendWrong(numberOf("start_answer"), {});
    await talk.sendWrong(numberOf("tool_use_cancel"), { id: 3 });
    await talk.sendWrong(numberOf("configuration"), { features: "all", tools: 3 });
    await talk.settle();
  }),
  check("frame.bomb", ["SHOULD", "| depth, the envelope included | 32 |"], async (talk) => {
    const arrays = Array.from({ length: 10 }, () => [0xdd, 0x02, 0, 0, 0]).flat();
    await talk.sendBytes(Uint8Array.from(arrays));
    await talk.sendBytes(Uint8Array.from({ length: 14_000 }, () => 0x91));
    await talk.settle();
  }),
  check("frame.too-long", ["SHOULD", "| envelope | 4194304 bytes |"], async (talk) => {
    await talk.sendBytes(new Uint8Array(LIMITS.envelopeBytes + 100_000).fill(0x91), { way: "stream" });
    await talk.settle(LONG_FRAME_WITHIN_MS);
  }),
  check("frame.bytes-after", ["SHOULD", "Also refused: bytes after the map"], async (talk) => {
    const body = { id: "with_a_tail", messageId: "msg_a1", toolName: "echo", parameters: {}, execution: "client" };
    const frame = talk.packEnvelope(talk.nextStanza(), numberOf("tool_use_request"), body);
    await talk.sendBytes(Uint8Array.of(...frame, 0x00));
    await talk.settle();
    ensure(talk.runs("with_a_tail") === 0, "The client ran a request that has a byte after its map");
  }),
  check(
    "frame.late-answers",
    ["MUST", "A repeated stanzaId or message id is acknowledged and isn't handled twice"],
    async (talk) => {
      await talk.send({ type: "acknowledgement", body: { acknowledgedStanzaId: 1, success: true } }, { stanzaId: 0 });
      await talk.send(
        { type: "acknowledgement", body: { acknowledgedStanzaId: 9_999, success: false } },
        { stanzaId: 0 },
      );
      await talk.send({ type: "tool_use_result", body: { id: "never_asked", success: true, result: {} } });
      await talk.settle();
    },
  ),
];

/** How long to wait until LiveKit announces a participant: without tracks, it is announced up to 3 s late. */
const ANNOUNCED_WITHIN_MS = 3_500;
/**
 * How long a frame of the maximum size may take. LiveKit takes seconds to deliver four megabytes, and later messages
 * are queued behind them.
 */
const LONG_FRAME_WITHIN_MS = 15_000;

/** Frames from participants that are not workers. */
export const senderChecks: readonly Check<ClientTalk>[] = [
  check(
    "sender.unannounced",
    [
      "MUST",
      "Drop a packet whose sender is not announced yet: the worker sends it again after a Configuration whose `lastSequenceSeen` is before that packet.",
    ],
    async (talk) => ensureNotObeyed(talk, { way: "packet", isAnnounced: false }),
  ),
  check("sender.packet", ["MUST", AGENT_ONLY], (talk) => ensureNotObeyed(talk, { way: "packet", isAnnounced: true })),
  check("sender.stream", ["MUST", AGENT_ONLY], (talk) => ensureNotObeyed(talk, { way: "stream", isAnnounced: true })),
];

/**
 * How many unannounced participants send a packet each. One may not be enough, because LiveKit may announce that
 * participant before its packet arrives.
 */
const STRANGERS = 2;

/** Sends a request from participants that are not agents. @throws {SubjectFault} if the client runs or answers it */
async function ensureNotObeyed(
  talk: ClientTalk,
  { way, isAnnounced }: { readonly way: FrameKind; readonly isAnnounced: boolean },
): Promise<void> {
  let answers = 0;
  const ids = Array.from({ length: isAnnounced ? 1 : STRANGERS }, () => createId());
  // LiveKit announces newcomers at intervals. Wait for one announcement, so that the packets arrive before the next.
  if (!isAnnounced) await talk.untilAnnounced(await talk.joinStranger(), ANNOUNCED_WITHIN_MS);
  for (const id of ids) {
    const stranger = await talk.joinStranger(() => (answers += 1));
    if (isAnnounced) await sleep(ANNOUNCED_WITHIN_MS);
    const body = { id, messageId: "msg_a1", toolName: "echo", parameters: {}, execution: "client" };
    const frame = talk.packEnvelope(-1_000_000, numberOf("tool_use_request"), body);
    await stranger.publish(frame, { way, to: ["client"] });
  }
  await talk.settle();
  const isObeyed = ids.some((id) => talk.runs(id) > 0);
  ensure(!isObeyed, "The client ran a call requested by a participant that is not an agent");
  const isAnswered = answers > 0 || ids.some((id) => talk.results(id).length > 0);
  ensure(!isAnswered, "The client answered a participant that is not an agent");
}
