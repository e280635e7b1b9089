import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { EspeakPackage, WAV_HEADER_BYTES } from "../../src/voice/providers/espeak/espeak-package.ts";
import { clockMs } from "../clock.ts";
import type { FromModel, ModelCall, Step } from "./messages.ts";
import { toAnthropicEvents } from "./anthropic.ts";
import { toOpenAiEvents } from "./openai.ts";
import { SPOKEN_QUESTION } from "./start-model.ts";

// This program is the model, in its own process. It answers immediately or after a fixed delay. It serves the Messages
// API and Chat Completions with the same text in the same pieces, and OpenAI's API for speech recognition and
// synthesis. It only searches for the last question's mark, so a long history does not slow it down.
const ANSWER = "It is ten past two, and the sun is out over the whole of the bay. You could go for a walk.";
/**
 * The answer to a question without a mark. After the first sentence, it contains no pause long enough to count as
 * silence.
 */
const SPOKEN_ANSWER = "It is ten past two. One two three four five six seven eight nine ten.";
const PIECE = 8;
/** `[q-id]` requests text, `[t-id]` a tool call, `[l-deltas-id]` a long text, `[i-deltas-id]` a long tool input. */
const MARKS = ["[q-", "[t-", "[l-", "[i-"];
let calls: ModelCall[] = [];

const SLOW_MS = Number(process.argv[2]);
/** The samples are sent as if they had the sample rate of OpenAI's audio, so the voice sounds a tenth too fast. */
const espeak = new EspeakPackage();

function plan(body: string): { readonly id: string; readonly step: Step } {
  const at = Math.max(...MARKS.map((mark) => body.lastIndexOf(mark)));
  if (at < 0) return { id: "", step: { kind: "words", pieces: toPieces(SPOKEN_ANSWER) } };
  const [, kind, deltas = "0", id = ""] = /^\[(\w)-(?:(\d+)-)?(\w+)/.exec(body.slice(at, at + 40)) ?? [];
  const isForTool = (kind === "t" || kind === "i") && !body.includes(`seen:${id}`);
  if (isForTool) {
    const text = "x".repeat(Number(deltas) * PIECE);
    return { id, step: { kind: "tool_input", pieces: toPieces(JSON.stringify({ id, text })) } };
  }
  const long = kind === "l" ? "And so on. ".repeat((Number(deltas) * PIECE) / 11) : "";
  return { id, step: { kind: "words", pieces: toPieces(`${ANSWER} ${long}That was ${id}.`) } };
}

function toPieces(text: string): readonly string[] {
  return text.match(new RegExp(`.{1,${PIECE}}`, "gu")) ?? [];
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readText(request);
  const askedAt = clockMs();
  const path = request.url?.split("?")[0] ?? "";
  if (path.endsWith("/audio/transcriptions")) {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ text: SPOKEN_QUESTION }));
    return;
  }
  if (path.endsWith("/audio/speech")) {
    const { input } = JSON.parse(body) as { input: string };
    const wav = await espeak.speak(input, "en");
    response.writeHead(200, { "content-type": "audio/pcm" }).end(wav?.subarray(WAV_HEADER_BYTES));
    return;
  }
  const toEvents = path.endsWith("/messages") ? toAnthropicEvents : toOpenAiEvents;
  if (!path.endsWith("/messages") && !path.endsWith("/chat/completions")) {
    response.writeHead(404, { "content-type": "application/json" }).end("{}");
    return;
  }
  const { id, step } = plan(body);
  if (SLOW_MS > 0) await sleep(SLOW_MS);
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  for (const event of toEvents(step, `call_${id}`)) response.write(event);
  response.end();
  calls.push({ id, askedAt, endedAt: clockMs() });
}

const server = createServer((request, response) => void handle(request, response));
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => send({ type: "ready", port: (server.address() as AddressInfo).port }));
process.on("message", () => {
  send({ type: "calls", calls });
  calls = [];
});
process.on("disconnect", () => process.exit());

function send(message: FromModel): void {
  process.send?.(message);
}
