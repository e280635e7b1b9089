import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ClientTool,
  connect,
  roomTransport,
  type ToolContext,
  type Transport,
} from "../../../src/client/index.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { loadRtcNode } from "../../../src/livekit/load-rtc-node.ts";

const WORDS = ["approve", "reject", "once", "always"] as const;
const print = (event: object) => void process.stdout.write(`${JSON.stringify(event)}\n`);
const listOf = (text = "") => text.split(",").filter(Boolean);

/**
 * Runs the program that docs/conformance.md asks for, with our SDK. `wrap` may change the transport between the SDK and
 * LiveKit.
 */
export async function runSdkProgram(wrap: (transport: Transport) => Transport = (transport) => transport) {
  const { LIVEKIT_URL: url = "", LIVEKIT_TOKEN: token = "", CONFORMANCE_TOOLS, CONFORMANCE_FEATURES } = process.env;
  const { Room } = await loadRtcNode();
  const enter = async (room: InstanceType<typeof Room>) => {
    await room.connect(url, token, { autoSubscribe: false, dynacast: false });
    print({ event: "joined" });
  };
  let room = new Room();
  const parley = await connect(wrap(roomTransport(room)), { features: listOf(CONFORMANCE_FEATURES) });
  const offers = new Map<string, () => void>();
  const offer = (names: readonly string[]) => {
    for (const [name, withdraw] of offers) if (!names.includes(name) && offers.delete(name)) withdraw();
    for (const name of names) {
      const tool = TOOLS[name];
      if (tool && !offers.has(name))
        offers.set(name, parley.registerTool({ name, description: `Does ${name}.`, ...tool }));
    }
  };
  offer(listOf(CONFORMANCE_TOOLS));

  parley.on("answer_start", ({ previousId }) => print({ event: "answer_start", messageId: previousId }));
  parley.on("sentence", ({ previousId, text }) => print({ event: "sentence", answerId: previousId, text }));
  parley.on("answer_end", ({ previousId, text }) => print({ event: "answer", messageId: previousId, text }));
  parley.on("error", ({ code, originatingId }) => print({ event: "error", code, originatingId }));
  parley.on("permission_request", ({ id, title }) => {
    print({ event: "permission", id });
    const word = WORDS.find((each) => title.startsWith(each));
    if (word) parley.respondToPermission(id, word).catch(() => {});
  });
  parley.on("permission_closed", ({ id }) => print({ event: "permission_closed", id }));

  await enter(room);
  for await (const line of createInterface({ input: process.stdin })) {
    const { command, text, tools } = JSON.parse(line) as { command: string; text: string; tools: string[] };
    if (command === "say") parley.sendText(text);
    if (command === "stop") parley.stop();
    if (command === "announce") offer(tools);
    if (command === "rejoin") {
      await room.disconnect();
      room = new Room();
      parley.rejoin(wrap(roomTransport(room)));
      await enter(room);
    }
  }
  await parley.close();
  await room.disconnect();
  process.exit();
}

const schema = (properties: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});

function withRunEvents(run: (input: JsonObject, context: ToolContext) => unknown, name: string): ClientTool["run"] {
  return (input, context) => {
    print({ event: "run", id: context.callId, tool: name });
    context.signal.addEventListener("abort", () => print({ event: "aborted", id: context.callId }));
    return run(input, context);
  };
}

const TOOLS: Readonly<Record<string, Pick<ClientTool, "input" | "run">>> = {
  echo: { input: schema(), run: withRunEvents((input) => input, "echo") },
  slow: {
    input: schema({ ms: { type: "integer" } }),
    run: withRunEvents(({ ms }, { signal }) => sleep(Number(ms), {}, { signal }), "slow"),
  },
  fail: {
    input: schema({ message: { type: "string" } }),
    run: withRunEvents(({ message }) => {
      throw new Error(typeof message === "string" ? message : "No message");
    }, "fail"),
  },
  big: {
    input: schema({ bytes: { type: "integer" } }),
    run: withRunEvents(({ bytes }) => ({ text: "x".repeat(Number(bytes)) }), "big"),
  },
  report: {
    input: schema(),
    run: withRunEvents(async (_input, { log, progress }) => {
      log("half way");
      progress(0.5);
      await sleep(50);
    }, "report"),
  },
};
