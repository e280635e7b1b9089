import type { JsonObject } from "../lib/json.ts";
import type { CallState } from "./call.ts";

const MAX_JSON = 200;

interface ShownOutcome {
  readonly result?: unknown;
  readonly errorCode?: string | undefined;
  readonly errorMessage?: string | undefined;
}

/** The parts of a tool call that people are shown. */
interface ShownCall extends ShownOutcome {
  readonly name: string;
  readonly input: JsonObject;
  readonly state: CallState;
  readonly ranOn: "server" | "client" | undefined;
}

/** The parts of a permission request that people are shown. */
interface ShownQuestion {
  readonly tool: string;
  readonly title: string;
  readonly state: string;
}

/** One thing that happened in a turn. A turn that began by itself has no `text` in `said`. */
type TurnLine =
  | { readonly type: "said"; readonly who?: string; readonly text: string | undefined }
  | { readonly type: "call"; readonly call: ShownCall }
  | { readonly type: "question"; readonly question: ShownQuestion }
  | { readonly type: "answer"; readonly text: string };

/**
 * Formats a part of a turn for people, as one line or, if the text has several lines, as several. Used in the terminal
 * of `parley start` and in the messages of failed tests.
 */
export function toTurnLine(line: TurnLine): string {
  switch (line.type) {
    case "said":
      return `${`${line.who ?? "user"}:`.padEnd(6)} ${line.text ?? "(nothing: the turn began by itself)"}`;
    case "call":
      return `calls: ${showCall(line.call)}`;
    case "question":
      return `asks:  ${showQuestion(line.question)}`;
    case "answer":
      return `agent: ${line.text === "" ? "(nothing)" : line.text}`;
  }
}

export function showCall({ name, input, state, ranOn, ...outcome }: ShownCall): string {
  const where = ranOn === "client" ? " on the device" : "";
  const isOpen = state !== "success" && outcome.errorCode === undefined;
  return `${name} ${cutJson(input)}${where} → ${isOpen ? state : showOutcome(outcome)}`;
}

function showQuestion({ tool, title, state }: ShownQuestion): string {
  return `${tool} "${title}" → ${state}`;
}

/** Formats the result of a call or, if it failed, the error. */
export function showOutcome({ result, errorCode, errorMessage = "" }: ShownOutcome): string {
  return errorCode === undefined ? cutJson(result) : `${errorCode}: ${errorMessage}`;
}

export function cutJson(value: unknown, replace: (value: unknown) => unknown = (each) => each): string {
  const json = JSON.stringify(value, (_key, each: unknown) => replace(each)) ?? "";
  return json.length > MAX_JSON ? `${json.slice(0, MAX_JSON)}…` : json;
}

/**
 * Replaces control characters, which could manipulate the terminal or reorder other text. Keeps line breaks and tabs.
 */
export function forTerminal(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, "\u{FFFD}");
}
