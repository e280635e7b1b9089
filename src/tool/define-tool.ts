import type { z } from "zod";
import { fieldsOf, refuseUnknownFields } from "../lib/checks/did-you-mean.ts";
import type { JsonObject } from "../lib/json.ts";
import type { FormAnswer } from "../protocol/forms/form.ts";

/** What a running tool gets besides its input. */
export interface ToolContext<Settings = unknown> {
  /**
   * The tool's own or shared entry under `toolSettings` in parley.config.ts, checked at start by the tool's `settings`.
   */
  readonly settings: Settings;
  /** Aborted on the deadline, on a stop and when the session closes; the reason says which. Pass it on to all waits. */
  readonly signal: AbortSignal;
  /** The ToolUseRequest's id: unique to this call. */
  readonly callId: string;
  /** Equal for the same tool with the same arguments in the same turn: pass it to services that must not act twice. */
  readonly idempotencyKey: string;
  /** The identity of the participant whose turn this is, and the room. */
  readonly participant: string;
  readonly room: string;
  /**
   * LiveKit's id of the room: a later room of the same name has another one. The key for state that is to end with the
   * room, such as an order. Where there is no LiveKit, as in a test in memory, the room's name.
   */
  readonly roomSid: string;
  /** The id of the session. A later room of the same name goes on with it, unless `continueConversation` is false. */
  readonly sessionId: string;
  /** The values of `permission.pattern` for which permission was given; absent when an earlier worker got it. */
  readonly permitted?: readonly string[];
  /** Adds a line to the call's log, which is shown while the call runs. Lines after its end are dropped. */
  readonly log: (line: string) => void;
  /** Sets the call's progress, from 0 to 1. */
  readonly progress: (fraction: number) => void;
  /**
   * Asks for permission for something that only the running tool knows of. The rules judge first; where they say so,
   * the participant is asked, and the tool's `timeoutMs` stands still. Resolves when it is allowed.
   *
   * @throws {PermissionDenied} when it is not allowed; a tool that lets it out ends its call as `permission_denied`
   */
  readonly ask: (request: PermissionAsk) => Promise<void>;
  /**
   * Has the participant whose turn this is fill in a form, and the tool's `timeoutMs` stand still: on its device, if
   * that announces `ask_user`, else in words, one field after the other. Without an answer in time, or a participant
   * that can be asked, it resolves with `cancel`. What is accepted fits the schema.
   *
   * @throws {TypeError} when the schema is not that of a form; the signal's reason when the call ends
   */
  readonly elicit: <Content = JsonObject>(request: Elicitation<Content>) => Promise<Elicited<Content>>;
  /**
   * `traceparent` and `tracestate` of the call's span, to be sent with the tool's own requests; empty without a trace.
   */
  readonly traceHeaders: Readonly<Record<string, string>>;
}

/** What a tool asks permission for before it runs. Each function gets the checked input. */
export interface ToolPermission<Input, Settings = unknown> {
  /** The type that rules name: values of `read` and `edit` are paths, those of `bash` are command lines. */
  readonly type: string;
  /** What the call touches, literally: only rules are patterns. `run` must then touch nothing else. */
  readonly pattern: (input: Input, settings: Settings) => string | readonly string[];
  /** Whether names that differ only in upper and lower case mean the same thing. @defaultValue false */
  readonly ignoresCase?: (input: Input, settings: Settings) => boolean;
  /** What the question to the participant is about, such as "Write notes/today.md". */
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

/** What a tool asks a person for while it runs, in the shape of an MCP elicitation. */
export interface Elicitation<Content = JsonObject> {
  /** What is asked, as the person reads or hears it; at most 2,000 characters. */
  readonly message: string;
  /**
   * A flat object, as zod or JSON Schema: each property a string, number, integer, boolean, enum or an array of an
   * enum, perhaps with a title.
   */
  readonly schema: z.ZodType<Content> | JsonObject;
}

/** How a form has ended. */
export type Elicited<Content = JsonObject> =
  | { readonly action: "accept"; readonly content: Content }
  | Exclude<FormAnswer, { readonly action: "accept" }>;

interface ToolOptions<Input, Settings> {
  /** What the model reads to decide when to use the tool. */
  readonly description: string;
  /** A zod object, or a JSON Schema whose root is an object. */
  readonly input: z.ZodType<Input> | JsonObject;
  /** The shape of `toolSettings[name]` in parley.config.ts; a bad value stops the start, with the field's name. */
  readonly settings?: z.ZodType<Settings>;
  /** Whether the tool is off, and offered to nobody, without its entry in `toolSettings`. @defaultValue false */
  readonly needsSettings?: boolean;
  /**
   * The entry of `toolSettings` that the tool shares with others, in place of one by its own name. Without that entry
   * the tool is off, and offered to nobody.
   */
  readonly sharedSettings?: string;
  /**
   * Whose device may run a `client` or `either` tool: that of the participant whose turn it is, or, with `room`, also that of
   * another participant who announced the name for the room, and who then gives the result. @defaultValue "own"
   */
  readonly scope?: "own" | "room";
  /** @defaultValue 30000; at most 600000 */
  readonly timeoutMs?: number;
  /**
   * Runs each call in a thread of its own with at most 256 MB, which is ended when the call is: for what computes long
   * without a pause, and would hold up other sessions. The input must be structured-cloneable.
   * @defaultValue false
   */
  readonly isolate?: boolean;
  /** The tool changes nothing anywhere: it may start before the model has finished its message. @defaultValue false */
  readonly readOnly?: boolean;
  /**
   * Whether a second run has no further effect, so that a call may run again after a crash of the worker. @defaultValue
   * the value of `readOnly`
   */
  readonly idempotent?: boolean;
  /**
   * What becomes of a running call when the participant begins a new message over it: `finish` lets it end and brings
   * its outcome into the session later, `cancel` aborts it, `block` makes the new message wait. @defaultValue "cancel"
   * for a `readOnly` tool, else "finish"
   */
  readonly onInterrupt?: "finish" | "cancel" | "block";
  /**
   * What becomes of a call with the same arguments as an earlier one of the same turn: `allow` runs it, `reuse` gives
   * it the earlier one's outcome without running, `reject` refuses it.
   * @defaultValue "allow"
   */
  readonly onDuplicate?: "allow" | "reuse" | "reject";
  /**
   * What ToolCallState and the event `tool_state` show of its calls: all, only name, status and times, or nothing. The
   * config's `toolDetail` wins. @defaultValue "full"
   */
  readonly stateDetail?: "full" | "name" | "off";
  /** What is said, in a spoken answer, when a call leaves the participant waiting; the texts of a list take turns. */
  readonly filler?: string | readonly string[];
  /** How long the participant waits in silence before that. @defaultValue 1200 */
  readonly fillerAfterMs?: number;
  /** After this time a spoken answer says that the call takes longer. @defaultValue no notice */
  readonly noticeAfterMs?: number;
  /**
   * What a call waits for in a session with a voice: `turn_confirmed` for the participant's silence, since more words
   * may be the rest of its question; `words_spoken` also until the answer so far has been heard. @defaultValue
   * "turn_confirmed"
   */
  readonly startWhen?: "turn_confirmed" | "words_spoken";
  /** The turn does not wait for a call: the model gets a receipt, and the outcome later. @defaultValue false */
  readonly background?: boolean;
  /**
   * How an outcome that its turn did not wait for is told: `speak` in a turn of its own at the next pause, `wait` with
   * the participant's next message, `silent` with that too, but the model speaks of it only when asked. @defaultValue
   * "speak"
   */
  readonly onResult?: "speak" | "wait" | "silent";
  /**
   * What a call needs permission for; the config's rules decide whether the participant is asked. Without it, never.
   */
  readonly permission?: ToolPermission<Input, Settings>;
  /**
   * Whether a spoken yes may allow a call. With `false` a yes in words must be typed, after a question that was shown
   * whole to a client without dialogs. @defaultValue true
   */
  readonly voiceApproval?: boolean;
  /** Whether the participant may put other arguments in the place of the model's. @defaultValue false */
  readonly allowEditedInput?: boolean;
}

/** Returns the tool's answer: a map is sent as it is, `undefined` and `null` as `{}`, anything else as `{value}`. */
export type ToolRun<Input, Settings> = (input: Input, context: ToolContext<Settings>) => unknown;

export type ToolDefinition<Input, Settings> =
  | (ToolOptions<Input, Settings> & {
      readonly execution?: "server" | "either";
      readonly run: ToolRun<Input, Settings>;
    })
  | (ToolOptions<Input, Settings> & { readonly execution: "client"; readonly run?: undefined });

const TOOL_FIELDS = fieldsOf<ToolOptions<never, never> & { readonly execution?: unknown; readonly run?: unknown }>({
  description: true,
  input: true,
  settings: true,
  needsSettings: true,
  sharedSettings: true,
  scope: true,
  timeoutMs: true,
  isolate: true,
  readOnly: true,
  idempotent: true,
  onInterrupt: true,
  onDuplicate: true,
  stateDetail: true,
  filler: true,
  fillerAfterMs: true,
  noticeAfterMs: true,
  startWhen: true,
  background: true,
  onResult: true,
  permission: true,
  voiceApproval: true,
  allowEditedInput: true,
  execution: true,
  run: true,
});

/** The fields of a tool's `permission`, and of what a running tool asks for. */
export const PERMISSION_FIELDS = fieldsOf<PermissionAsk>({
  type: true,
  pattern: true,
  ignoresCase: true,
  title: true,
  metadata: true,
});

const TOOL = Symbol.for("parley.tool");

/** A tool as `tools/**` exports it; `load-tools.ts` gives it its name. */
export type Tool = ToolDefinition<never, never> & { readonly [TOOL]: true };

/**
 * Declares a tool. The default export of a file in `tools/` must be one; the file's name is the tool's name
 * (`web-search.ts` is `web_search`). `run` may throw: the message goes to the model as an error result.
 *
 * @throws {TypeError} for a field that a tool does not have: a misspelt `permission` would let the tool run unasked
 * @example
 * export default defineTool({
 *   description: "Adds two numbers.",
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   run: ({ a, b }) => ({ sum: a + b }),
 * });
 */
export function defineTool<Input, Settings = undefined>(definition: ToolDefinition<Input, Settings>): Tool {
  refuseUnknownFields(definition, TOOL_FIELDS, "defineTool");
  if (typeof definition.permission === "object")
    refuseUnknownFields(definition.permission, PERMISSION_FIELDS, "a tool's permission");
  return { ...definition, [TOOL]: true } as unknown as Tool;
}

export function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && TOOL in value;
}
