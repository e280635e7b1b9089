// A participant with its own tool, which runs in this process: npm run client -- "notify me that dinner is ready"
import { Room } from "@livekit/rtc-node";
import { connect } from "@parley/client";
import { z } from "zod";

const { HTTP_PORT = "8080", TOKEN_SECRET } = process.env;
const response = await fetch(`http://127.0.0.1:${HTTP_PORT}/token`, {
  method: "POST",
  headers: { "content-type": "application/json", ...(TOKEN_SECRET && { authorization: `Bearer ${TOKEN_SECRET}` }) },
  body: JSON.stringify({ room: "kitchen", identity: "alice" }),
});
const { token, livekitUrl } = (await response.json()) as { token: string; livekitUrl: string };
const room = new Room();
// This participant only reads and writes text, so it does not subscribe to audio, and its answers are not spoken.
await room.connect(livekitUrl, token, { autoSubscribe: false, dynacast: false });

const parley = await connect(room, { listens: false });
parley.registerTool({
  name: "show_notification",
  description: "Shows a short text on this participant's screen.",
  input: z.object({ message: z.string() }),
  run: ({ message }) => void process.stdout.write(`** ${message} **\n`),
});
const answer = await parley.ask(process.argv[2] ?? "notify me that dinner is ready");
process.stdout.write(`${answer.text}\n`);
process.exit();
