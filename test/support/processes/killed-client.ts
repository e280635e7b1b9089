import { Room, RoomEvent } from "@livekit/rtc-node";
import { encodeEnvelope } from "../../../src/protocol/codec/codec.ts";
import { decodeEnvelope } from "../../../src/protocol/codec/decode-envelope.ts";

/**
 * A client process for a test to kill. It joins, announces the tool `scan` and never answers. It prints `ready` once
 * the worker knows the tool, and `asked` when it is asked to run the tool.
 */
const [url = "", token = ""] = process.argv.slice(2);
const room = new Room();
await room.connect(url, token, { autoSubscribe: false, dynacast: false });
let isAcknowledged = false;
room.on(RoomEvent.DataReceived, (bytes) => {
  const incoming = decodeEnvelope(bytes);
  const type = "message" in incoming ? incoming.message.type : undefined;
  if (type === "acknowledgement") isAcknowledged = true;
  if (type === "configuration" && isAcknowledged) process.stdout.write("ready\n");
  if (type === "tool_use_request") process.stdout.write("asked\n");
});
const tools = [
  { name: "scan", description: "S.", inputSchema: { type: "object" }, timeoutMs: 1_500, scope: "room" as const },
];
const writer = await room.localParticipant?.streamBytes({ topic: "parley" });
await writer?.write(
  encodeEnvelope({ stanzaId: 1, conversationId: "", message: { type: "configuration", body: { tools } } }),
);
await writer?.close();
setInterval(() => {}, 60_000);
