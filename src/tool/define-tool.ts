import { type z } from "zod";
import { type JsonObject } from "../lib/json.ts";

/** What a running tool is given besides its input. */
export interface ToolContext<Settings = unknown> {
  /**
   * The tool's entry (or the one it shares) under `toolSettings` in parley.config.ts, checked by the tool's `settings`
   * at start.
   */
  readonly settings: Settings;
  /** Aborted on the deadline, on a stop and when the session closes; the reason says which. Pass it on. */
  readonly signal: AbortSignal;
  /** The ToolUseRequest's id: unique to this call. */
  readonly callId: string;
  /** Equal for the same tool with the same arguments in the same turn: hand it to whatever must not act twice. */
  readonly idempotencyKey: string;
  /** Who asked: the participant whose turn this is, and its room. */
  readonly participant: string;
  readonly room: string;
  /** What permission was given for, as `permission.pattern` said it; absent when an earlier worker was given it. */
  readonly permitted?: readonly string[];
  /** Adds a line to the call's record, which is shown while it runs. What comes after its end is dropped. */
  readonly log: (line: string) => void;
  /** Says how far it is, 0 to 1. */
  readonly progress: (fraction: number) => void;
  /**
   * Asks for permission to go on, for what only the running tool knows of. The rules judge first; where they say so,
   * the participant is asked, and the tool's `timeoutMs` stands still. Resolves when it is allowed.
   *
   * @throws {PermissionDenied} when it is not; the tool may go on without it, or let it out: then the call ends as
   *   `permission_denied`
   */
  readonly ask: (request: PermissionAsk) => Promise<void>;
  /**
   * `traceparent` and `tracestate` of the call's span, to go with what the tool asks of others; empty without a trace.
   */
  readonly traceHeaders: Readonly<Record<string, string>>;
}

/** What a tool asks permission for before it runs. Each function gets the checked input. */
export interface ToolPermission<Input, Settings = unknown> {
  /** The kind of thing, as rules name it: values of `read` and `edit` are paths, those of `bash` command lines. */
  readonly type: string;
  /** What the call touches, as it is: rules are patterns, this is not. The tool must then touch just that. */
  readonly pattern: (input: Input, settings: Settings) => string | readonly string[];
  /** Whether names that differ in upper and lower case are one there. @defaultValue false */
  readonly ignoresCase?: (input: Input, settings: Settings) => boolean;
  /** What the participant is asked, without the question: "Write notes/today.md". */
  readonly title: (input: Input) => string;
  /** What else a client may show. */
  readonly metadata?: (input: Input) => JsonObject;
}

/** What a tool asks permission for while it runs: the fields of `ToolPermission`. */
export interface PermissionAsk {
  readonly type: string;
  readonly pattern: string | readonly string[];
  readonly ignoresCase?: boolean;
  readonly title: string;
  readonly metadata?: JsonObject;
}

interface ToolOptions<Input, Settings> {
  /** What the model reads to decide when to use the tool. */
  readonly description: string;
  /** A zod object, or a JSON Schema whose root is an object. */
  readonly input: z.ZodType<Input> | JsonObject;
  /** Shape of `toolSettings[name]` in parley.config.ts; a bad value stops the start and names the field. */
  readonly settings?: z.ZodType<Settings>;
  /** Without its entry in `toolSettings` the tool is off: it is not offered to anyone. @defaultValue false */
  readonly needsSettings?: boolean;
  /**
   * The entry of `toolSettings` that the tool shares with others, in place of one by its own name. Without that entry
   * the tool is off: it is not offered to anyone.
   */
  readonly sharedSettings?: string;
  /** @defaultValue 30000; at most 600000 */
  readonly timeoutMs?: number;
  /** Changes nothing anywhere: may start before the model has finished its message. @defaultValue false */
  readonly readOnly?: boolean;
  /**
   * May run again after a crash of the worker: a second run has no further effect. @defaultValue the value of
   * `readOnly`
   */
  readonly idempotent?: boolean;
  /**
   * What becomes of a running call when the participant begins a new message over it: `finish` lets it end and brings
   * its outcome into the talk later, `cancel` aborts it, `block` makes the new message wait.
   * @defaultValue "cancel" for a `readOnly` tool, else "finish"
   */
  readonly onInterrupt?: "finish" | "cancel" | "block";
  /**
   * What becomes of a call with the same arguments as an earlier one of the same turn: `allow` runs it, `reuse` gives
   * it the earlier one's outcome without running, `reject` refuses it.
   * @defaultValue "allow"
   */
  readonly onDuplicate?: "allow" | "reuse" | "reject";
  /**
   * What ToolCallState and the event `tool_state` show of its calls: all, only name, status and times, or nothing.
   * `toolDetail` of the config wins.
   * @defaultValue "full"
   */
  readonly stateDetail?: "full" | "name" | "off";
  /** Said, where the answer is spoken, when a call leaves the participant waiting; a list is gone through in order. */
  readonly filler?: string | readonly string[];
  /** How long a call may leave the participant in silence before that. @defaultValue 1200 */
  readonly fillerAfterMs?: number;
  /** A call that takes longer than this is excused, where the answer is spoken. @defaultValue no notice */
  readonly noticeAfterMs?: number;
  /**
   * What a call waits for where there is a voice: `turn_confirmed` for the participant to be silent, since what it says
   * may be the rest of its question; `words_spoken` also for what the answer has said so far to be heard.
   * @defaultValue "turn_confirmed"
   */
  readonly startWhen?: "turn_confirmed" | "words_spoken";
  /** The talk does not wait for a call: the model gets a receipt, and the outcome later. @defaultValue false */
  readonly background?: boolean;
  /**
   * How an outcome that the talk did not wait for comes into it: `speak` in a turn of its own at the next pause, `wait`
   * with the participant's next message, `silent` also then, but not to be spoken of unless asked.
   * @defaultValue "speak"
   */
  readonly onResult?: "speak" | "wait" | "silent";
  /**
   * What a call needs permission for. The rules of the config decide whether the participant is asked; without it, it
   * is not.
   */
  readonly permission?: ToolPermission<Input, Settings>;
  /**
   * Whether a yes in words may allow a call. With `false` only a typed one does, to a question that was shown whole to
   * a client without dialogs. @defaultValue true
   */
  readonly voiceApproval?: boolean;
  /** Whether the participant may put other arguments in the place of the model's. @defaultValue false */
  readonly allowEditedInput?: boolean;
}

/** A tool's answer: a map is sent as it is, anything else as `{value}`; nothing is `{}`. */
export type ToolRun<Input, Settings> = (input: Input, context: ToolContext<Settings>) => unknown;

export type ToolDefinition<Input, Settings> =
  | (ToolOptions<Input, Settings> & {
      readonly execution?: "server" | "either";
      readonly run: ToolRun<Input, Settings>;
    })
  | (ToolOptions<Input, Settings> & { readonly execution: "client"; readonly run?: undefined });

const TOOL = Symbol.for("parley.tool");

/** A tool as `tools/**` exports it; `load-tools.ts` gives it its name. */
export type Tool = ToolDefinition<never, never> & { readonly [TOOL]: true };

/**
 * Declares a tool. The default export of a file in `tools/` must be one; the file's name is the tool's name
 * (`web-search.ts` is `web_search`). `run` may throw: the message goes to the model as an error result.
 *
 * @example
 * export default defineTool({
 *   description: "Adds two numbers.",
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   run: ({ a, b }) => ({ sum: a + b }),
 * });
 */
export function defineTool<Input, Settings = undefined>(definition: ToolDefinition<Input, Settings>): Tool {
  return { ...definition, [TOOL]: true } as unknown as Tool;
}

export function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && TOOL in value;
}
