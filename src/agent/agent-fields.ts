import { z } from "zod";
import type { AgentSession } from "./agent-session.ts";
import { hookFields } from "./hooks.ts";

/** Instructions: a text, or a function that writes them for a session. */
export type Instructions = string | ((session: AgentSession) => string | Promise<string>);

const isFunction = (value: unknown) => typeof value === "function";

/** `{a,b}` is refused: rules know no alternatives, so a deny with one would match nothing. */
const rulePattern = z
  .string()
  .min(1)
  .refine((text) => !/(?<!\\)\{[^}]*,[^}]*\}/u.test(text), "{a,b} is no choice: write a rule for each, or \\{a,b}");

/** `type` and `pattern` are globs. A deny wins, else the last match; without a match the participant is asked. */
export const rulesSchema = z.array(
  z.strictObject({ type: rulePattern, pattern: rulePattern, action: z.enum(["allow", "ask", "deny"]) }),
);

/** How a model is asked. */
export const modelFields = {
  /** A model id of the Messages API. */
  name: z.string().min(1),
  maxTokens: z.number().int().positive(),
  /** Absent: the model is not asked to think. */
  thinking: z.union([z.literal("adaptive"), z.strictObject({ budgetTokens: z.number().int().min(1024) })], {
    error: 'expected "adaptive" or {budgetTokens: 1024 or more}',
  }),
  /** Anthropic's own tools, in the API's words: `{type: "web_search_20260318", name: "web_search"}`. */
  serverTools: z.array(z.looseObject({ type: z.string().min(1), name: z.string().min(1) })),
  effort: z.enum(["low", "medium", "high", "xhigh", "max"]),
};

/** What is done after a silence, which is measured from the last words or from the step before. */
const idleStep = z.union(
  [
    z.strictObject({ afterMs: z.number().int().min(500).max(3_600_000), say: z.string().min(1) }),
    z.strictObject({
      afterMs: z.number().int().min(500).max(3_600_000),
      /** The room is closed for all; a text is said before. */
      end: z.union([z.literal(true), z.string().min(1)]),
    }),
  ],
  "expected {afterMs: 500 or more, say: a text} or {afterMs: 500 or more, end: true or a text}",
);
export type IdleStep = z.output<typeof idleStep>;

const LANGUAGE = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;

/** Tools with which the agent ends, transfers or steers the call itself. Each is off unless it is named. */
const callToolsSchema = z.strictObject({
  end_call: z.literal(true).exactOptional(),
  /** Where a caller by telephone can be transferred to, by names for the model: `{sales: "tel:+4930123456"}`. */
  transfer_call: z
    .record(
      z.string().regex(/^[\w-]{1,40}$/, "expected a name of letters, digits, _ and -"),
      z.string().regex(/^(?:tel|sips?):\S+$/, "expected tel:+4930123456 or sip:sales@example.com"),
    )
    .refine((targets) => Object.keys(targets).length > 0, "expected at least one target")
    .exactOptional(),
  press_keys: z.literal(true).exactOptional(),
  skip_turn: z.literal(true).exactOptional(),
  /** The languages that can be chosen, as BCP 47. */
  set_language: z.array(z.string().regex(LANGUAGE, "expected a language such as en-GB")).min(1).exactOptional(),
});

const handoffSchema = z.strictObject({
  /** Tells the model when to hand over. */
  when: z.string().min(1),
  /** What the other agent is shown of the talk so far: all that this one was shown, or only this one's summary. */
  history: z.enum(["whole", "summary"]).default("whole"),
});

/** The names of those tools. */
export const CALL_TOOLS: readonly string[] = Object.keys(callToolsSchema.shape);

/** Built-in tools that parley.config.ts switches on. Every agent has them, whatever its `tools` names. */
export const BUILT_IN_TOOLS: readonly string[] = ["recall", "remember", "forget"];

/** What an author says of an agent. The agent of parley.config.ts has the same fields. */
export const agentFields = {
  /** The model's system prompt, or a function of the session that writes it (docs/agents.md). */
  instructions: z.union(
    [z.string().min(1), z.custom<Exclude<Instructions, string>>(isFunction)],
    "expected a text or a function",
  ),
  /** The names of the server tools that it may use, as globs: `billing_*`. @defaultValue all */
  tools: z.array(z.string().min(1)).exactOptional(),
  /** Said when a participant joins: fixed words, or an order to the model. @defaultValue the participant begins */
  greeting: z
    .union([z.string().min(1), z.strictObject({ ask: z.string().min(1) })], "expected a text or {ask: a text}")
    .exactOptional(),
  /** What is done while nobody speaks, one step after another. */
  idle: z.array(idleStep).default([]),
  /** `mentioned`: in a room with several participants it answers only messages that name it. */
  replyTo: z.enum(["all", "mentioned"]).default("all"),
  /** The names by which a message can mention it. @defaultValue the agent's name; Parley */
  names: z
    .array(z.string().regex(/[\p{L}\p{N}]/u, "expected a name"))
    .min(1)
    .exactOptional(),
  /** Whether the model is told who has joined and left since the last message. */
  presence: z.boolean().default(false),
  callTools: callToolsSchema.default({}),
  /** The agents that it may hand the talk to, by name, and when it is to do so. */
  handoffs: z.record(z.string(), handoffSchema).default({}),
  /** An agent's own hook is called in the place of the one in parley.config.ts (docs/hooks.md). */
  ...hookFields,
};

/** An agent of the folder `agents/`: the fields above, and its own values of what parley.config.ts sets for all. */
export const agentSchema = z.strictObject({
  ...agentFields,
  /** What differs from `model` of parley.config.ts. */
  model: z
    .strictObject({
      name: modelFields.name.exactOptional(),
      maxTokens: modelFields.maxTokens.exactOptional(),
      thinking: modelFields.thinking.exactOptional(),
      serverTools: modelFields.serverTools.exactOptional(),
      effort: modelFields.effort.exactOptional(),
    })
    .default({}),
  voice: z
    .strictObject({
      /** Its voice, by the provider's name for it, in the place of TTS_VOICE. */
      name: z.string().min(1).exactOptional(),
    })
    .default({}),
  permission: z
    .strictObject({
      /** They follow the rules of parley.config.ts, and so win over all of them but a deny. */
      rules: rulesSchema.default([]),
    })
    .prefault({}),
});

export type AgentSettings = z.output<typeof agentSchema>;
