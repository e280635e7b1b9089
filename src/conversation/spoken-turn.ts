import type { JsonObject, JsonValue } from "../lib/json.ts";
import type { CallState, ExtraAnswer } from "./call.ts";
import type { FieldChanges } from "./state/state-change.ts";
import type { TurnState } from "./turn-record.ts";
import type { TurnTimings } from "./turn-timings.ts";

/** A tool call in a transcript. With `stateDetail: "name"`, only `name` and `state` are shown. */
export interface SpokenTool {
  readonly type: "tool";
  readonly name: string;
  readonly state: CallState;
  readonly toolUseId?: string;
  readonly callId?: string;
  readonly ranOn?: "server" | "client" | "anthropic";
  readonly mcpServer?: string;
  /** The participant whose device ran the call. */
  readonly participant?: string;
  /** The arguments that the call ran with. */
  readonly input?: JsonValue;
  /** The model's arguments, if a participant replaced them. */
  readonly modelInput?: JsonValue;
  readonly logs?: readonly string[];
  readonly result?: JsonValue;
  /** What clients received for display. */
  readonly display?: JsonObject;
  /** How the call changed the session's state, by field. */
  readonly stateChange?: FieldChanges;
  /**
   * The JSON size of the omitted `input`, `logs`, `result`, `display` and `stateChange`. Set if the turn's calls together are too
   * large.
   */
  readonly leftOutBytes?: number;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly startedAt?: number;
  readonly finishedAt?: number;
  /** Answers that arrived after the call had ended, and changed nothing. */
  readonly extraAnswers?: readonly (ExtraAnswer & { readonly at: number })[];
}

export interface SpokenText {
  readonly type: "text";
  /** What was sent and spoken. */
  readonly text: string;
  /** What the model wrote, if the hook `onAnswer` changed it or stopped the answer. */
  readonly original?: string;
}

export type TranscriptPart = SpokenText | SpokenTool;

/** A turn in a transcript. A field without a value is absent. Times are Unix ms. */
export interface SpokenTurn {
  readonly turnId: string;
  readonly position: number;
  readonly at: number;
  readonly endedAt?: number;
  readonly participant: string;
  /** The id of the participant's message. */
  readonly messageId?: string;
  /** What the participant said. Absent if the worker started the turn to report a tool's outcome. */
  readonly said?: string;
  /** What the model was shown instead of `said`, if the hook `onUserTurn` changed or refused it. */
  readonly shownAs?: string;
  /**
   * Who said it, if not `participant`. Set when `participant` regenerated the answer to another participant's message.
   */
  readonly saidBy?: string;
  /** The name of each attachment of the message, or its media type if it has no name. */
  readonly attachments?: readonly string[];
  readonly answer: readonly TranscriptPart[];
  readonly state: TurnState;
  readonly stopReason?: string;
  /** The part of the answer that was heard, if its speech was cut off. */
  readonly heard?: string;
  /** Set once the turn has ended. */
  readonly timings?: TurnTimings;
  readonly isReplaced?: boolean;
}
