import { loadRtcNode } from "../../src/livekit/load-rtc-node.ts";

/** A participant in its own process that echoes packets, text streams and RPCs. */
const [url = "", token = ""] = process.argv.slice(2);
const { Room, RoomEvent } = await loadRtcNode();
const room = new Room();
room.on(RoomEvent.DataReceived, (bytes) => {
  void room.localParticipant?.publishData(bytes, { reliable: true, topic: "back" });
});
room.registerTextStreamHandler("there", (reader) => {
  void reader.readAll().then((text) => room.localParticipant?.sendText(text, { topic: "back" }));
});
await room.connect(url, token, { autoSubscribe: false, dynacast: false });
room.localParticipant?.registerRpcMethod("echo", async ({ payload }) => payload);
process.on("disconnect", () => process.exit());
process.send?.("ready");
