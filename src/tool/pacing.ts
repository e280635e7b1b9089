import { TOOL_TIMES } from "../protocol/limits.ts";
import type { Tool } from "./define-tool.ts";

/** When a call may start in a session with voice. */
export type StartWhen = "turn_confirmed" | "words_spoken";
/** How a call's outcome is reported if its turn did not wait for it. */
export type OnResult = "speak" | "wait" | "silent";

/**
 * How a tool's calls fit into the conversation: when they start, what is said while they run, and whether the turn
 * waits.
 */
export interface Pacing {
  /** What is said while a call runs. Several strings are used in turn; an empty list means silence. */
  readonly fillers: readonly string[];
  readonly fillerAfterMs: number;
  /** `undefined` means no status message. */
  readonly noticeAfterMs: number | undefined;
  readonly startWhen: StartWhen;
  readonly isBackground: boolean;
  readonly onResult: OnResult;
}

/** The pacing of a tool that sets none of these fields. */
export const DEFAULT_PACING: Pacing = {
  fillers: [],
  fillerAfterMs: 1_200,
  noticeAfterMs: undefined,
  startWhen: "turn_confirmed",
  isBackground: false,
  onResult: "speak",
};

const START_WHEN: readonly StartWhen[] = ["turn_confirmed", "words_spoken"];
const ON_RESULT: readonly OnResult[] = ["speak", "wait", "silent"];

/** @throws {TypeError} naming the invalid field of the definition */
export function toPacing(tool: Tool): Pacing {
  const { filler, fillerAfterMs, noticeAfterMs, startWhen, background, onResult } = tool;
  const fillers = filler === undefined ? [] : [filler].flat();
  if (filler !== undefined && (fillers.length === 0 || !fillers.every(isPhrase)))
    throw new TypeError("filler: expected a non-empty string or a list of them");
  checkMs("fillerAfterMs", fillerAfterMs, 0);
  checkMs("noticeAfterMs", noticeAfterMs, 1);
  if (startWhen !== undefined && !START_WHEN.includes(startWhen))
    throw new TypeError(`startWhen: expected one of ${START_WHEN.join(", ")}`);
  if (background !== undefined && typeof background !== "boolean")
    throw new TypeError("background: expected true or false");
  if (onResult !== undefined && !ON_RESULT.includes(onResult))
    throw new TypeError(`onResult: expected one of ${ON_RESULT.join(", ")}`);
  return {
    fillers,
    fillerAfterMs: fillerAfterMs ?? DEFAULT_PACING.fillerAfterMs,
    noticeAfterMs,
    startWhen: startWhen ?? DEFAULT_PACING.startWhen,
    isBackground: background ?? false,
    onResult: onResult ?? DEFAULT_PACING.onResult,
  };
}

function isPhrase(text: unknown): boolean {
  return typeof text === "string" && text.trim() !== "";
}

function checkMs(field: string, ms: number | undefined, least: number): void {
  if (ms === undefined || (Number.isInteger(ms) && ms >= least && ms <= TOOL_TIMES.maxTimeoutMs)) return;
  throw new TypeError(`${field}: expected an integer from ${least} to ${TOOL_TIMES.maxTimeoutMs}, got ${ms}`);
}
