import type { z } from "zod";
import { fieldsOf, refuseUnknownFields } from "../lib/checks/did-you-mean.ts";
import type { StateAccess } from "../conversation/state/session-state.ts";
import type { JsonObject } from "../lib/json.ts";
import type { FormAnswer } from "../protocol/forms/form.ts";

/** What a running tool receives besides its input. */
export interface ToolContext<Settings = unknown> {
  /**
   * The tool's own or shared entry of `toolSettings` in parley.config.ts, validated at startup by the tool's
   * `settings`.
   */
  readonly settings: Settings;
  /**
   * Aborted at the deadline, on a stop, and when the session closes; the signal's reason says why. Pass it to
   * everything you await.
   */
  readonly signal: AbortSignal;
  /** The id of the ToolUseRequest, unique to this call. */
  readonly callId: string;
  /**
   * A key that is the same for every call of this tool with these arguments in this turn. Pass it to services that must
   * not act twice.
   */
  readonly idempotencyKey: string;
  /** The identity of the participant whose turn this is. `room` is the name of the room. */
  readonly participant: string;
  readonly room: string;
  /**
   * LiveKit's id of the room. A later room with the same name has a different id, so use this as the key for state that
   * should end with the room, such as an order. Without LiveKit, as in an in-memory test, this is the room's name.
   */
  readonly roomSid: string;
  /**
   * The id of the session. A later room with the same name continues the session, unless `continueConversation` decides
   * otherwise.
   */
  readonly sessionId: string;
  /**
   * The session's state. What the call changes takes effect when the call succeeds, and is stored together with its
   * result. A call that fails, times out or is canceled changes nothing.
   */
  readonly session: StateAccess;
  /** The name of the agent that serves the session. */
  readonly agent: string;
  /**
   * The attributes of the participant, except LiveKit's and Parley's own (`lk.…`, `parley.…`). Empty if the participant
   * has left the room.
   */
  readonly attributes: Readonly<Record<string, string>>;
  /** The values of `permission.pattern` that were permitted; absent if an earlier worker obtained the permission. */
  readonly permitted?: readonly string[];
  /**
   * Adds a line to the call's log, which is shown while the call runs. Lines added after the call has ended are
   * dropped.
   */
  readonly log: (line: string) => void;
  /** Sets the call's progress, from 0 to 1. */
  readonly progress: (fraction: number) => void;
  /**
   * Asks for permission for something that only becomes known while the tool runs. The rules decide first. If they
   * require it, the participant is asked, and the tool's `timeoutMs` is paused. Resolves if permission is granted.
   *
   * @throws {PermissionDenied} if permission is denied; if the tool does not catch this, its call ends as
   * `permission_denied`
   */
  readonly ask: (request: PermissionAsk) => Promise<void>;
  /**
   * Asks the participant whose turn this is to fill in a form, and pauses the tool's `timeoutMs`. The form appears on
   * the participant's device if the device announced `ask_user`; otherwise the agent asks for one field after another
   * in conversation. Resolves with `cancel` if no answer arrives in time or the participant cannot be asked. Accepted
   * content matches the schema.
   *
   * @throws {TypeError} if the schema cannot be shown as a form; the signal's reason if the call ends
   */
  readonly elicit: <Content = JsonObject>(request: Elicitation<Content>) => Promise<Elicited<Content>>;
  /** `traceparent` and `tracestate` of the call's span, to send with the tool's own requests. Empty without a trace. */
  readonly traceHeaders: Readonly<Record<string, string>>;
}

/** What a tool asks permission for before it runs. Each function receives the validated input. */
export interface ToolPermission<Input, Settings = unknown> {
  /** The type that rules refer to. Values of `read` and `edit` are paths, those of `bash` are command lines. */
  readonly type: string;
  /** What the call touches, as literal values: only rules contain wildcards. `run` must not touch anything else. */
  readonly pattern: (input: Input, settings: Settings) => string | readonly string[];
  /** Whether names that differ only in case mean the same thing. @defaultValue false */
  readonly ignoresCase?: (input: Input, settings: Settings) => boolean;
  /** What the permission request is about, such as "Write notes/today.md". */
  readonly title: (input: Input) => string;
  /** Further details that a client may show. */
  readonly metadata?: (input: Input) => JsonObject;
}

/** What a tool asks permission for while it runs. The fields are those of `ToolPermission`. */
export interface PermissionAsk {
  readonly type: string;
  readonly pattern: string | readonly string[];
  readonly ignoresCase?: boolean;
  readonly title: string;
  readonly metadata?: JsonObject;
}

/** What a tool asks a participant for while it runs, in the shape of an MCP elicitation. */
export interface Elicitation<Content = JsonObject> {
  /** The question, as the participant reads or hears it; at most 2,000 characters. */
  readonly message: string;
  /**
   * A flat object, as zod or JSON Schema. Each property is a string, number, integer, boolean, enum or array of an
   * enum, and may have a title.
   */
  readonly schema: z.ZodType<Content> | JsonObject;
}

/** How a form ended. */
export type Elicited<Content = JsonObject> =
  | { readonly action: "accept"; readonly content: Content }
  | Exclude<FormAnswer, { readonly action: "accept" }>;

interface ToolOptions<Input, Settings> {
  /** What the model reads to decide when to use the tool. */
  readonly description: string;
  /** A zod object, or a JSON Schema whose root is an object. */
  readonly input: z.ZodType<Input> | JsonObject;
  /**
   * The schema of `toolSettings[name]` in parley.config.ts. An invalid value stops the startup with an error that names
   * the field.
   */
  readonly settings?: z.ZodType<Settings>;
  /**
   * Whether the tool needs an entry in `toolSettings`. Without the entry, the tool is off and not offered.
   * @defaultValue false
   */
  readonly needsSettings?: boolean;
  /**
   * The entry of `toolSettings` that the tool shares with other tools, instead of an entry under its own name. Without
   * that entry, the tool is off and not offered.
   */
  readonly sharedSettings?: string;
  /**
   * Whose devices may run a `client` or `either` tool. `own`: only the device of the turn's participant. `room`: also
   * the device of any participant who announced the tool for the room. The device's owner then provides the result.
   * @defaultValue "own"
   */
  readonly scope?: "own" | "room";
  /**
   * How long a call may run, in ms, at most 600000. @defaultValue the config's `toolTimeoutMs`, which is 30000 by
   * default
   */
  readonly timeoutMs?: number;
  /**
   * Whether each call runs in a separate thread with at most 256 MB, which is terminated when the call ends. Use it for
   * long computations that would otherwise block other sessions. The input must be structured-cloneable.
   * @defaultValue false
   */
  readonly isolate?: boolean;
  /**
   * Whether the tool changes nothing anywhere. It may then start before the model has finished its message.
   * @defaultValue false
   */
  readonly readOnly?: boolean;
  /**
   * Whether a second run has no further effect, so that a call may run again after the worker crashed.
   * @defaultValue the value of `readOnly`
   */
  readonly idempotent?: boolean;
  /**
   * What happens to a running call when the participant interrupts it with a new message: `finish` lets it end and
   * reports its outcome later, `cancel` aborts it, `block` makes the new message wait.
   * @defaultValue "cancel" for a `readOnly` tool, else "finish"
   */
  readonly onInterrupt?: "finish" | "cancel" | "block";
  /**
   * What happens to a call with the same arguments as an earlier one in the same turn: `allow` runs it, `reuse` returns
   * the earlier call's outcome without running it, `reject` refuses it.
   * @defaultValue "allow"
   */
  readonly onDuplicate?: "allow" | "reuse" | "reject";
  /**
   * How much ToolCallState and the `tool_state` event show of this tool's calls: everything (`full`), only name,
   * status, ids and times (`name`), or nothing (`off`). The config's `toolDetail` takes precedence.
   * @defaultValue "full"
   */
  readonly stateDetail?: "full" | "name" | "off";
  /** What a spoken answer says when a call keeps the participant waiting. The strings of an array are used in turn. */
  readonly filler?: string | readonly string[];
  /** How long the participant waits in silence before the filler. @defaultValue 1200 */
  readonly fillerAfterMs?: number;
  /** How long until a spoken answer says that the call is taking longer. @defaultValue never */
  readonly noticeAfterMs?: number;
  /**
   * Whether participants can interrupt what the agent says from the start of a call to the end of the answer: a filler,
   * and what the model says about the result. If `false`, what they say meanwhile is answered afterwards.
   * @defaultValue true
   */
  readonly interruptible?: boolean;
  /**
   * What a call waits for before it starts, in a session with voice. `turn_confirmed`: that the participant stays
   * silent, because more words may belong to the question. `words_spoken`: also that the answer so far has been played.
   * @defaultValue "turn_confirmed"
   */
  readonly startWhen?: "turn_confirmed" | "words_spoken";
  /**
   * Whether the turn continues without waiting for a call. The model receives a receipt, and the outcome later.
   * @defaultValue false
   */
  readonly background?: boolean;
  /**
   * How an outcome is reported if the turn did not wait for it: `speak`, in a new turn at the next pause; `wait`, with
   * the participant's next message; `silent`, also with the next message, but the model mentions it only when asked.
   * @defaultValue "speak"
   */
  readonly onResult?: "speak" | "wait" | "silent";
  /**
   * What a call needs permission for. The config's rules decide whether the participant is asked. Without this field,
   * only a rule of the type `tool` can require permission.
   */
  readonly permission?: ToolPermission<Input, Settings>;
  /**
   * Whether a spoken yes may allow a call. If `false`, a typed yes allows a call only if the client has no dialogs and
   * has shown the whole question.
   * @defaultValue true
   */
  readonly voiceApproval?: boolean;
  /** Whether the participant may replace the model's arguments. @defaultValue false */
  readonly allowEditedInput?: boolean;
}

/**
 * Returns the tool's result. An object is sent as is, `undefined` and `null` as `{}`, and any other value as `{value}`.
 */
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
  interruptible: true,
  startWhen: true,
  background: true,
  onResult: true,
  permission: true,
  voiceApproval: true,
  allowEditedInput: true,
  execution: true,
  run: true,
});

/** The fields of a tool's `permission`, and of the requests of a running tool. */
export const PERMISSION_FIELDS = fieldsOf<PermissionAsk>({
  type: true,
  pattern: true,
  ignoresCase: true,
  title: true,
  metadata: true,
});

const TOOL = Symbol.for("parley.tool");

/** A tool, as files in `tools/` export it. `load-tools.ts` sets its name. */
export type Tool = ToolDefinition<never, never> & { readonly [TOOL]: true };

/**
 * Declares a tool. Export it as the default of a file in `tools/`. The file's name is the tool's name (`web-search.ts`
 * becomes `web_search`). `run` may throw: the model receives the message as an error result.
 *
 * @throws {TypeError} for an unknown field: a misspelled `permission` would let the tool run without asking
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
