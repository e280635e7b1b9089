import type { Call } from "../../conversation/call.ts";
import { abortable } from "../../lib/abortable.ts";
import type { CallTurn, TurnSpeech } from "../../tool/calls/call-ports.ts";
import type { ServerTool } from "../../tool/server-tool.ts";
import type { Pacing } from "../../tool/pacing.ts";

interface Wait {
  readonly call: Call;
  readonly pacing: Pacing;
  readonly speech: TurnSpeech;
  /** Aborted when nobody waits for the call anymore. */
  readonly waitSignal: AbortSignal;
  readonly turnSignal: AbortSignal;
}

/** Speaks fillers while a participant listens to an answer and waits for a call. Concurrent calls share a filler. */
export class Fillers {
  readonly #tools: ReadonlyMap<string, ServerTool>;
  /** The calls that are being waited for. */
  readonly #waits = new Map<string, AbortController>();
  /** The call for which a filler was last spoken. */
  #filled: string | undefined;
  /** How many fillers were spoken for each tool. */
  readonly #counts = new Map<string, number>();

  constructor(tools: ReadonlyMap<string, ServerTool>) {
    this.#tools = tools;
  }

  /** Starts or stops fillers when a call has changed. `turn` is the running turn. */
  handle(call: Call, turn: CallTurn | undefined): void {
    const isAsking = call.state === "running" && call.deadlineAt === undefined;
    if (call.state !== "running" || isAsking || call.isBackground || turn?.turnId !== call.turnId)
      return this.#end(call.id);
    const pacing = this.#tools.get(call.toolName)?.pacing;
    if (this.#waits.has(call.id) || !pacing || !turn.speech) return;
    const controller = new AbortController();
    this.#waits.set(call.id, controller);
    const wait = { call, pacing, speech: turn.speech, waitSignal: controller.signal, turnSignal: turn.signal };
    if (pacing.fillers.length > 0) void ignoreErrors(this.#fill(wait));
    if (pacing.noticeAfterMs !== undefined) void ignoreErrors(notice(wait, pacing.noticeAfterMs));
  }

  #end(callId: string): void {
    this.#waits.get(callId)?.abort();
    this.#waits.delete(callId);
  }

  /** Waits until the answer so far has been played, then for the filler's delay, and speaks the filler. */
  async #fill({ call, pacing, speech, waitSignal, turnSignal }: Wait): Promise<void> {
    await abortable(speech.untilPlayed(), waitSignal);
    await pause(pacing.fillerAfterMs, waitSignal);
    if (this.#filled !== undefined && this.#waits.has(this.#filled)) return;
    this.#filled = call.id;
    const count = this.#counts.get(call.toolName) ?? 0;
    this.#counts.set(call.toolName, count + 1);
    await speech.filler(pacing.fillers[count % pacing.fillers.length] ?? "", turnSignal);
  }
}

async function notice({ speech, waitSignal, turnSignal }: Wait, afterMs: number): Promise<void> {
  await pause(afterMs, waitSignal);
  await speech.notice(turnSignal);
}

/** Uses the global timer, because tests cannot fake the one in node:timers/promises. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await abortable(promise, signal).finally(() => clearTimeout(timer));
}

/** Ignores all rejections. After an abort, nobody waits for the call any longer, so nothing has to be spoken. */
async function ignoreErrors(saying: Promise<void>): Promise<void> {
  await saying.catch(() => {});
}
