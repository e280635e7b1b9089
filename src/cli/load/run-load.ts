import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Parley } from "../../client/index.ts";
import { loadRtcNode } from "../../livekit/load-rtc-node.ts";
import { forgetRoom, hearOwnEvents } from "../../livekit/room-events.ts";
import { fetchToken } from "../talk/fetch-token.ts";
import { type LoadOptions, type ToolKind } from "./options.ts";

/** What was measured, in milliseconds, and what went wrong, by its text. */
export interface Measurements {
  readonly joins: number[];
  /** From the question to the first sentence of its answer. */
  readonly firstWords: number[];
  /** From the question to the end of its answer, by what the question needed. */
  readonly answers: Record<ToolKind | "plain", number[]>;
  readonly errors: Map<string, number>;
}

/** What the scripted model answers by a tool, and what it answers by itself. */
const QUESTIONS: Readonly<Record<ToolKind | "plain", string>> = {
  plain: "Hello there",
  client: "Read the file load.txt",
  server: "What is 3 plus 4?",
};

interface Run {
  readonly options: LoadOptions;
  readonly measured: Measurements;
}

/** Talks in all rooms to their end. What fails is counted; nothing is thrown. */
export async function runLoad(options: LoadOptions): Promise<Measurements> {
  const measured: Measurements = {
    joins: [],
    firstWords: [],
    answers: { plain: [], client: [], server: [] },
    errors: new Map(),
  };
  const { Room, dispose } = await loadRtcNode();
  const run = { options, measured };
  const id = randomBytes(4).toString("hex");
  const talks = Array.from({ length: options.rooms }, async (_, index) => {
    await sleep((options.rampMs * index) / options.rooms);
    const room = new Room();
    hearOwnEvents(room);
    try {
      const parley = await join(room, `load-${id}-${index}`, run);
      for (let turn = 0; turn < options.turns; turn++) {
        await askOne(parley, kindOf(turn, options.tools), run);
        await sleep(options.pauseMs);
      }
      await parley.close();
    } catch (error) {
      noteError(measured, error);
    } finally {
      await room.disconnect().catch(() => {});
      forgetRoom(room);
    }
  });
  await Promise.all(talks);
  await dispose();
  return measured;
}

type Room = InstanceType<Awaited<ReturnType<typeof loadRtcNode>>["Room"]>;

async function join(room: Room, name: string, { options, measured }: Run): Promise<Parley> {
  const { httpUrl, tokenSecret, timeoutMs } = options;
  const { token, livekitUrl } = await fetchToken({ httpUrl, tokenSecret, room: name, identity: `${name}-user` });
  const startedAt = performance.now();
  await room.connect(livekitUrl, token, { autoSubscribe: false, dynacast: false });
  const parley = await connect(room, { waitForAgentMs: 0 });
  if (options.tools.includes("client"))
    parley.registerTool({
      name: "read_local_file",
      description: "Reads a file.",
      input: { type: "object", properties: { filePath: { type: "string" } }, required: ["filePath"] },
      run: () => ({ content: "One line." }),
    });
  await parley.whenConnected(timeoutMs);
  measured.joins.push(performance.now() - startedAt);
  return parley;
}

function kindOf(turn: number, tools: readonly ToolKind[]): ToolKind | "plain" {
  return turn % 2 === 0 ? "plain" : (tools[((turn - 1) / 2) % tools.length] ?? "plain");
}

async function askOne(parley: Parley, kind: ToolKind | "plain", { options, measured }: Run): Promise<void> {
  const { say, timeoutMs } = options;
  const startedAt = performance.now();
  let firstWord: number | undefined;
  const off = parley.on("sentence", () => (firstWord ??= performance.now() - startedAt));
  try {
    const { toolResults } = await parley.ask(say ?? QUESTIONS[kind], { timeoutMs });
    measured.answers[kind].push(performance.now() - startedAt);
    if (firstWord !== undefined) measured.firstWords.push(firstWord);
    if (say === undefined && kind !== "plain" && !toolResults.some(({ success }) => success))
      throw new Error(`A question for a ${kind} tool was answered without one`);
  } catch (error) {
    noteError(measured, error);
  } finally {
    off();
  }
}

function noteError({ errors }: Measurements, error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  errors.set(text, (errors.get(text) ?? 0) + 1);
}
