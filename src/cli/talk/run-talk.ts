import type { Room } from "@livekit/rtc-node";
import { AppError } from "../../errors/app-error.ts";
import { connect, type Parley } from "../../client/index.ts";
import { watch } from "./conversation.ts";
import { fetchToken } from "./fetch-token.ts";
import type { TalkOptions } from "./options.ts";
import { type TalkEvent, toLine } from "./printer.ts";
import { readLines } from "./read-lines.ts";
import { loadRtcNode } from "../../livekit/load-rtc-node.ts";
import type { RoomSound } from "./room-sound.ts";
import { findSoundPrograms, type SoundPrograms } from "./sound-programs.ts";
import { openFolder } from "./shared-folder.ts";
import { TalkError } from "./talk-error.ts";
import { TerminalForms } from "./terminal-forms.ts";
import { registerTools } from "./tools.ts";

const WAIT_FOR_AGENT_MS = 15_000;
const LEAVE_WITHIN_MS = 3_000;

/**
 * Joins the room, runs the conversation, and leaves.
 *
 * @throws {TalkError} when one of these fails, or a turn of `--say` fails
 */
export async function runTalk(options: TalkOptions): Promise<void> {
  const folder = options.folder === undefined ? undefined : await openFolder(options.folder);
  const { language, hasSound } = options;
  const programs = hasSound ? await findSoundPrograms() : undefined;
  const { token, livekitUrl } = await fetchToken(options);
  const { Room, dispose } = await loadRtcNode();
  const room = new Room();
  try {
    using sound = programs && (await openSound(room, programs));
    await room.connect(livekitUrl, token, { autoSubscribe: hasSound, dynacast: false }).catch((error: unknown) => {
      throw new TalkError(`Joining the room at ${livekitUrl} failed: ${messageOf(error)}`);
    });
    const own = { features: ["permissions"], listens: hasSound, ...(language !== undefined && { language }) };
    const parley = await connect(room, { waitForAgentMs: 0, ...own });
    await sound?.publishMicrophone();
    await talk(parley, options, folder);
  } finally {
    await within(LEAVE_WITHIN_MS, async () => {
      await room.disconnect();
      await dispose();
    });
  }
}

async function openSound(room: Room, programs: SoundPrograms): Promise<RoomSound> {
  // Imported here, because it imports rtc-node, which `loadRtcNode` must load first.
  const { RoomSound } = await import("./room-sound.ts");
  console.error(
    `talk: ${programs.record[0]} records and ${programs.play[0]} plays. Wear headphones: the agent hears what is played`,
  );
  return new RoomSound(room, programs, (text) => console.error(`talk: ${text}`));
}

async function talk(parley: Parley, options: TalkOptions, folder: string | undefined): Promise<void> {
  const { room, identity, say, timeoutMs, isJson } = options;
  const emit = (event: TalkEvent) => {
    const line = isJson ? JSON.stringify(event) : toLine(event);
    if (line !== undefined) console.log(line);
  };
  const forms = say.length === 0 ? new TerminalForms((text) => emit({ event: "form", text })) : undefined;
  registerTools(parley, { folder, notify: (text) => emit({ event: "notification", text }), forms });
  const agents = new Promise<string>((resolve) => parley.on("connected", (event) => resolve(event.agents.join(", "))));
  await parley.whenConnected(WAIT_FOR_AGENT_MS).catch((error: unknown) => {
    const text = `No agent joined the room ${room} within ${WAIT_FOR_AGENT_MS / 1_000} s. Is the worker running?`;
    throw new TalkError(text, { cause: error });
  });
  emit({ event: "joined", room, identity, agent: await agents });
  const stopWatching = watch(parley, emit);
  try {
    if (forms) {
      await readLines(parley, { isJson, timeoutMs, forms, output: process.stderr, onFailed: (error) => report(error) });
    } else for (const text of say) await sayOnce(parley, text, timeoutMs);
  } finally {
    stopWatching();
    await parley.close();
  }
}

/** Runs one turn. The first Ctrl-C stops the answer, the second leaves the room. */
async function sayOnce(parley: Parley, text: string, timeoutMs: number): Promise<void> {
  const leave = new AbortController();
  let isStopped = false;
  const onInterrupt = () => {
    if (!parley.isAnswering || isStopped) return leave.abort(new TalkError("Interrupted"));
    isStopped = true;
    parley.stop();
  };
  process.on("SIGINT", onInterrupt);
  try {
    await parley.ask(text, { timeoutMs, signal: leave.signal });
  } catch (error) {
    throw error instanceof AppError ? new TalkError(`The turn failed: ${error.message}`, { cause: error }) : error;
  } finally {
    process.off("SIGINT", onInterrupt);
  }
}

function report(error: unknown): void {
  console.error(`talk: the turn failed: ${messageOf(error)}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function within(timeoutMs: number, leave: () => Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, timeoutMs);
  await Promise.race([leave().catch(() => {}), late.promise]);
  clearTimeout(timer);
}
