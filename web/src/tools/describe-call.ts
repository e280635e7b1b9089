import type { ExtraAnswer, ToolCall } from "@parley/react";
import { toExactJson, toVisible } from "../shared/exact-json.ts";
import type { Words } from "../shared/words/words.ts";

const SUMMARY_LENGTH = 70;

/** `read_local_file` → `Read local file` */
export function toTitle(name: string): string {
  const words = name.replaceAll(/[_-]+/g, " ").trim();
  return toVisible(words.charAt(0).toUpperCase() + words.slice(1));
}

/** Returns the arguments to show first: strings and numbers, one item each, truncated to a total length. */
export function toSummary(inputJson: string): readonly string[] {
  const input = parse(inputJson);
  const values = typeof input === "object" && input !== null ? Object.values(input) : [];
  let left = SUMMARY_LENGTH;
  return values.flatMap((value: unknown) => {
    if ((typeof value !== "string" && typeof value !== "number") || left <= 0) return [];
    const text = toVisible(String(value).replaceAll(/\s+/g, " "));
    const shown = text.length > left ? `${text.slice(0, left)}…` : text;
    left -= text.length;
    return shown;
  });
}

/** Formats JSON with line breaks. Incomplete JSON is returned as is. */
export function toPretty(json: string): string {
  const value = parse(json);
  return value === undefined ? toVisible(json) : toExactJson(value);
}

export function toRunner({ runner, addressee, mcpServer }: ToolCall, me: string, words: Words["calls"]): string {
  if (mcpServer !== undefined) return words.byMcpServer(toVisible(mcpServer));
  if (runner === "server") return words.onServer;
  if (runner === "anthropic") return words.byAnthropic;
  if (runner === undefined) return "";
  if (addressee !== undefined && addressee !== me) return words.onDeviceOf(toVisible(addressee));
  return runner === "client" || addressee === me ? words.onThisDevice : words.hereOrOnServer;
}

/** Describes an answer that arrived after the call had ended. */
export function toExtra({ kind, from }: ExtraAnswer, me: string, words: Words["calls"]): string {
  const other = from === "server" ? words.theServer : toVisible(from);
  const who = from === me ? words.thisDevice : other;
  if (kind === "duplicate") return words.answeredAgain(who);
  if (kind === "wrong_participant") return words.answeredUnasked(who);
  return words.answeredLate(who);
}

/**
 * How to show a call that failed with `permission_denied`. `note` is what the person said, or the reason for the
 * denial.
 */
export interface Refusal {
  readonly state: string;
  readonly note: string | undefined;
}

/**
 * Returns how to show a denied call, or `undefined` for any other call. The call's error is a sentence for the model.
 */
export function toRefusal({ errorCode, error = "" }: ToolCall, { calls, quote }: Words): Refusal | undefined {
  if (errorCode !== "permission_denied") return undefined;
  const [, before, why = error] = /^(Not run|Not allowed): (.*)$/su.exec(error) ?? [];
  const rejected = /^the participant rejected it(?:\. What the participant said: (.*))?$/su.exec(why);
  const said = rejected?.[1] === undefined ? [] : [quote(rejected[1])];
  const note = rejected ? said : [why];
  if (before === "Not run") return { state: rejected ? calls.deniedNotRun : calls.notRun, note: note[0] };
  // A tool may ask for permission while it runs.
  return {
    state: rejected ? calls.deniedWhileRunning : calls.notAllowedWhileRunning,
    note: [...note, calls.notUndone].join(rejected ? " " : ". "),
  };
}

/** Whether a call needs no card of its own: it has succeeded, and shows nothing to people. */
export function isQuiet({ status, display, extraAnswers = [] }: ToolCall): boolean {
  return status === "success" && display === undefined && extraAnswers.length === 0;
}

export function toState({ status, approver, waitsForPermission }: ToolCall, me: string, words: Words["calls"]): string {
  if (approver !== undefined) return approver === me ? words.waitsForYou : words.waitsFor(toVisible(approver));
  return waitsForPermission === true ? words.waitsForAnswer : words.states[status];
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
