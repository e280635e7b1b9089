import { Room } from "@livekit/rtc-node";
import { connect } from "../../../src/client/index.ts";

// ask.ts <text>, with TOKEN and LIVEKIT_URL: asks the agent in a room from the machine this runs on, and prints the
// answer.
const { TOKEN = "", LIVEKIT_URL = "" } = process.env;
const room = new Room();
await room.connect(LIVEKIT_URL, TOKEN, { autoSubscribe: false, dynacast: false });
const parley = await connect(room);
const { text } = await parley.ask(process.argv[2] ?? "");
process.stdout.write(text);
process.exit();
