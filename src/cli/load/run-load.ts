import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Parley } from "../../client/index.ts";
import { namesLoopback } from "../../lib/loopback.ts";
import { loadRtcNode } from "../../livekit/load-rtc-node.ts";
import { forgetRoom, filterRoomEvents } from "../../livekit/room-events.ts";
import type { Speaker } from "../../testing/stage/speaker.ts";
import { fetchToken } from "../talk/fetch-token.ts";
import { TalkError } from "../talk/talk-error.ts";
import { type DriverCost, measureDriver } from "./driver-cost.ts";
import type { LoadOptions, ToolKind } from "./options.ts";

/** What was measured: durations in milliseconds, and the number of errors by message. */
export interface Measurements {
  readonly joins: number[];
  /** From the question to the first sentence of its answer. */
  readonly firstWords: number[];
  /** From the question to the end of its answer, by the kind of tool the question needs. */
  readonly answers: Record<ToolKind | "plain", number[]>;
  /**
   * From the end of a participant's first spoken question to the agent's first sound. Slower than later questions,
   * because the agent has a lot to load.
   */
  readonly firstSounds: number[];
  /** From the end of a later spoken question to the agent's first sound. */
  readonly sounds: number[];
  readonly errors: Map<string, number>;
}

/** Questions that the scripted model answers with a client tool, with a server tool, or without tools. */
const QUESTIONS: Readonly<Record<ToolKind | "plain", string>> = {
  plain: "Hello there",
  client: "Read the file load.txt",
  server: "What is 3 plus 4?",
};
/** The spoken question. It does not depend on `--tools`, because its answer should be short. */
const SPOKEN = QUESTIONS.server;
/** How long the agent must be silent for its answer to count as ended. Longer than any pause within an answer. */
const SILENCE_MS = 1_000;
/** The length of the speakers' audio frames. Long, because many speakers share this process with the measurement. */
const FRAME_MS = 100;
/** The time over which the first spoken questions are spread: about the duration of one question and its answer. */
const SPREAD_MS = 6_000;

type Room = InstanceType<Awaited<ReturnType<typeof loadRtcNode>>["Room"]>;

interface Run {
  readonly options: LoadOptions;
  readonly measured: Measurements;
  /** Whether the participants play the agent's audio. */
  readonly listens: boolean;
}

interface Sound {
  /** The audio of the question. */
  readonly speech: Int16Array;
  readonly speakerIn: (room: Room) => Speaker;
}

/** Runs the conversations in all rooms and counts errors. @throws {TalkError} when espeak-ng is needed but missing */
export async function runLoad(options: LoadOptions): Promise<Measurements & { readonly driver: DriverCost }> {
  const measured: Measurements = {
    joins: [],
    firstWords: [],
    answers: { plain: [], client: [], server: [] },
    firstSounds: [],
    sounds: [],
    errors: new Map(),
  };
  const rtc = await loadRtcNode();
  const sound = options.voice > 0 ? await openSound(options.say ?? SPOKEN) : undefined;
  const run = { options, measured };
  const id = randomBytes(4).toString("hex");
  const costOfDriver = measureDriver();
  const talks = Array.from({ length: options.rooms }, async (_, index) => {
    await sleep((options.rampMs * index) / options.rooms);
    const room = new rtc.Room();
    filterRoomEvents(room);
    try {
      const name = `load-${id}-${index}`;
      if (sound && index < options.voice) await speakIn(room, name, { ...run, listens: true, sound });
      else await typeIn(room, name, { ...run, listens: false });
    } catch (error) {
      recordError(measured, error);
    } finally {
      await room.disconnect().catch(() => {});
      forgetRoom(room);
    }
  });
  await Promise.all(talks);
  const driver = costOfDriver();
  await rtc.dispose();
  return { ...measured, driver };
}

async function typeIn(room: Room, name: string, run: Run): Promise<void> {
  const { turns, tools, pauseMs } = run.options;
  const parley = await join(room, name, run);
  for (let turn = 0; turn < turns; turn++) {
    await askOne(parley, kindOf(turn, tools), run);
    await sleep(pauseMs);
  }
  await parley.close();
}

/** Synthesizes the question with espeak-ng. @throws {TalkError} if it is not installed */
async function openSound(question: string): Promise<Sound> {
  // Import these modules here: they are rarely needed, and they import rtc-node, which loadRtcNode must load first.
  const { EspeakSynthesizer, findEspeak } = await import("../../voice/providers/espeak/espeak-synthesizer.ts");
  const { loudBlocks, Speaker: SpeakerOf, SPEECH_RATE, synthesize } = await import("../../testing/stage/speaker.ts");
  const espeak = await findEspeak(process.env);
  if (!espeak)
    throw new TalkError("--voice: espeak-ng is not installed here, neither as a program nor as an npm package");
  const synthesizer = new EspeakSynthesizer(espeak, "en");
  const speech = await synthesize(synthesizer, question);
  await synthesizer.close();
  // Cut off the trailing silence, because the answer is measured from the end of the speech.
  const end = ((loudBlocks(speech).lastIndexOf(true) + 1) * SPEECH_RATE) / 100;
  return { speech: speech.subarray(0, end), speakerIn: (room) => new SpeakerOf(room, FRAME_MS) };
}

async function speakIn(room: Room, name: string, { sound, ...run }: Run & { readonly sound: Sound }): Promise<void> {
  const { turns, pauseMs, timeoutMs } = run.options;
  const parley = await join(room, name, run);
  const speaker = sound.speakerIn(room);
  try {
    await speaker.publish();
    await speaker.untilConnected(timeoutMs);
    await sleep(Math.random() * SPREAD_MS);
    const { firstSounds, sounds } = run.measured;
    for (let turn = 0; turn < turns; turn++) {
      const times = turn === 0 ? firstSounds : sounds;
      await askAloud({ parley, speaker, speech: sound.speech, times }, run);
      await sleep(pauseMs);
    }
  } finally {
    await speaker.close();
  }
  await parley.close();
}

async function join(room: Room, name: string, { options, measured, listens }: Run): Promise<Parley> {
  const { httpUrl, mayGoElsewhere, tokenSecret, timeoutMs } = options;
  const { token, livekitUrl } = await fetchToken({ httpUrl, tokenSecret, room: name, identity: `${name}-user` });
  if (!mayGoElsewhere && !namesLoopback(livekitUrl))
    throw new TalkError(
      `The worker's LiveKit (${livekitUrl}) is not on this machine. To load it anyway, add --url ${httpUrl}`,
    );
  const startedAt = performance.now();
  await room.connect(livekitUrl, token, { autoSubscribe: false, dynacast: false });
  const parley = await connect(room, { waitForAgentMs: 0, listens });
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
      throw new Error(`The model answered a question for a ${kind} tool without calling it`);
  } catch (error) {
    recordError(measured, error);
  } finally {
    off();
  }
}

interface SpokenQuestion {
  readonly parley: Parley;
  readonly speaker: Speaker;
  readonly speech: Int16Array;
  /** The list that receives the measured time. */
  readonly times: number[];
}

/** Speaks the question and waits until its answer has been played to the end. */
async function askAloud({ parley, speaker, speech, times }: SpokenQuestion, { options, measured }: Run): Promise<void> {
  const { timeoutMs } = options;
  const { promise: answered, resolve: end } = Promise.withResolvers<void>();
  const off = parley.on("answer_end", () => end());
  try {
    const { to } = await speaker.play(speech);
    times.push((await speaker.untilSound(to, timeoutMs)) - to);
    await Promise.race([answered, sleep(timeoutMs, undefined, { ref: false })]);
    await speaker.untilSilence(SILENCE_MS, timeoutMs);
  } catch (error) {
    recordError(measured, error);
  } finally {
    off();
  }
}

function recordError({ errors }: Measurements, error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  errors.set(text, (errors.get(text) ?? 0) + 1);
}
