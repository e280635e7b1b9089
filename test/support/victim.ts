import { Room } from "@livekit/rtc-node";
import { encodeEnvelope } from "../../src/protocol/codec.ts";

/** A client process to be killed: joins, announces the tool `scan`, and never answers. */
const [url = "", token = ""] = process.argv.slice(2);
const room = new Room();
await room.connect(url, token, { autoSubscribe: false, dynacast: false });
const tools = [{ name: "scan", description: "S.", inputSchema: { type: "object" }, timeoutMs: 1_500 }];
const writer = await room.localParticipant?.streamBytes({ topic: "parley" });
await writer?.write(
  encodeEnvelope({ stanzaId: 1, conversationId: "", message: { type: "configuration", body: { tools } } }),
);
await writer?.close();
process.stdout.write("ready\n");
setInterval(() => {}, 60_000);
