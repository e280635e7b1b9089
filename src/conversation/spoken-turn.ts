import type { JsonObject, JsonValue } from "../lib/json.ts";
import type { CallState, ExtraAnswer } from "./call.ts";
import type { TurnState } from "./turn-record.ts";
import type { TurnTimings } from "./turn-timings.ts";

/** A tool in a transcript. Of a tool with `stateDetail: "name"`, only `name` and `state` are told. */
export interface SpokenTool {
  readonly type: "tool";
  readonly name: string;
  readonly state: CallState;
  readonly toolUseId?: string;
  readonly callId?: string;
  readonly ranOn?: "server" | "client" | "anthropic";
  /** The MCP server that has the tool. */
  readonly mcpServer?: string;
  /** On whose device it ran. */
  readonly participant?: string;
  /** What it ran with. */
  readonly input?: JsonValue;
  /** What the model wrote, where a participant has put `input` in its place. */
  readonly modelInput?: JsonValue;
  /** What the tool has logged. */
  readonly logs?: readonly string[];
  readonly result?: JsonValue;
  /** What clients were given to display. */
  readonly display?: JsonObject;
  /** Their size as JSON, where `input`, `logs`, `result` and `display` are left out because those of the turn are too large together. */
  readonly leftOutBytes?: number;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly startedAt?: number;
  readonly finishedAt?: number;
  /** Answers that came after its end, and changed nothing. */
  readonly extraAnswers?: readonly (ExtraAnswer & { readonly at: number })[];
}

export type TranscriptPart = { readonly type: "text"; readonly text: string } | SpokenTool;

/** A turn as a transcript shows it. A field without a value is absent. Times are Unix ms. */
export interface SpokenTurn {
  readonly turnId: string;
  readonly position: number;
  readonly at: number;
  readonly endedAt?: number;
  readonly participant: string;
  /** The id of what the participant said. */
  readonly messageId?: string;
  /** What the participant said; absent when the worker began the turn, to tell of a tool's outcome. */
  readonly said?: string;
  /** Who said it, if not the participant: that one had somebody else's message answered again. */
  readonly saidBy?: string;
  /** What came with that: names, or media types. */
  readonly attachments?: readonly string[];
  readonly answer: readonly TranscriptPart[];
  readonly state: TurnState;
  readonly stopReason?: string;
  /** What was heard of an answer whose speech was cut off. */
  readonly heard?: string;
  /** When what happened in it, once it has ended. */
  readonly timings?: TurnTimings;
  readonly isReplaced?: boolean;
}
